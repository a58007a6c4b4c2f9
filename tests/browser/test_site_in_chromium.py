"""The published site in a real browser, from the disk: drawn, moved, searched, and said aloud."""

import csv
import os
import re
import shutil
from contextlib import contextmanager
from importlib import resources
from urllib.parse import parse_qs, quote

import pytest
from playwright.sync_api import sync_playwright

from benchproof.site import pages
from tests.harness.sample_history import HOSTILE, make_history
from tests.harness.sample_site import make_site

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Without sandbox where the tests run as root, as in a container.
ARGUMENTS = ["--no-sandbox"] if os.geteuid() == 0 else []
LOOKS = [("light", 1440), ("light", 390), ("dark", 1440), ("dark", 390)]
MANY, NAME = 400, "bind.time_one_row"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        history = make_history(MANY)
        return make_site(tmp_path_factory.mktemp("site"), patch, history, pictures="bind").page


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as tool:
        running = tool.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def axe():
    file = resources.files("axe_playwright_python") / "axe.min.js"
    return file.read_text(encoding="utf-8")


@contextmanager
def opened(browser, scheme="light", width=1440, **settings):
    """A page; what it says on its console ends up in ``page.said``."""
    view = {"width": width, "height": 900}
    context = browser.new_context(color_scheme=scheme, viewport=view, **settings)
    page = context.new_page()
    page.said = []
    page.on("console", lambda message: page.said.append(message.text))
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("requestfailed", lambda request: page.said.append(f"not loaded: {request.url}"))
    try:
        yield page
    finally:
        context.close()


@pytest.fixture
def page(browser):
    with opened(browser) as one:
        yield one
        assert one.said == []


def benchmark(site, page, **choice):
    """Open a benchmark's page and wait until its graphs are drawn."""
    words = "&".join(f"{key}={quote(value)}" for key, value in choice.items())
    page.goto(f"{site.with_name('benchmark.html').as_uri()}#name={NAME}&{words}")
    drawn(page)


def drawn(page):
    page.wait_for_selector("#plots[aria-busy=false] canvas")


def address(page):
    return {key: value[0] for key, value in parse_qs(page.url.partition("#")[2]).items()}


def wait_for_address(page, key, *, there=True):
    page.wait_for_function(
        "([key, there]) => new URLSearchParams(location.hash.slice(1)).has(key) === there",
        arg=[key, there],
    )
    return address(page)


def over(page):
    """The box of the first graph's plotting area."""
    return page.locator(".u-over").first.bounding_box()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_every_page_loads_quietly_fits_and_passes_axe(browser, site, axe, scheme, width):
    with opened(browser, scheme, width) as page:
        for name in pages.PAGES:
            page.goto(site.with_name(name).as_uri())
            if name == "benchmark.html":
                drawn(page)
            elif name == "compare.html":
                page.wait_for_selector("#table:not([hidden])")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            bad = [(each["id"], each["nodes"][0]["target"]) for each in found["violations"]]
            assert bad == [], name
        assert page.said == []
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == {"light": "rgb(254, 254, 254)", "dark": "rgb(20, 24, 31)"}[scheme]


def test_an_error_on_the_console_and_a_violation_would_be_seen(browser, site, axe):
    with opened(browser) as page:
        page.goto(site.as_uri())
        page.evaluate("document.querySelector('main').append(document.createElement('img'))")
        page.evaluate("setTimeout(() => nonsense())")
        page.evaluate(axe)
        found = page.evaluate("axe.run(document)")
        assert "image-alt" in [each["id"] for each in found["violations"]]
        assert any("nonsense" in words for words in page.said)


def test_a_graph_has_lines_of_both_implementations_and_their_ratio(site, page):
    benchmark(site, page, meter="instructions")
    assert page.locator("#plots canvas").count() == 2
    assert page.locator(".legend").inner_text().split() == ["pure", "Cython"]
    colours = page.evaluate("""() => {
        const canvas = document.querySelector("#plots canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const found = new Set();
        for (let at = 0; at < data.length; at += 4) {
            found.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
        }
        return [...found];
    }""")
    assert "0,114,178" in colours
    assert "213,94,0" in colours


def test_hovering_tells_the_commit_and_a_click_keeps_it_in_the_address(site, page):
    benchmark(site, page, meter="instructions")
    box = over(page)
    page.mouse.move(box["x"] + box["width"] * 7 / (MANY - 1), box["y"] + 40)
    told = page.locator("#commit")
    told.wait_for()
    assert HOSTILE in told.inner_text()
    assert "10,000" in told.inner_text()
    assert "Cython ÷ pure: 0.500" in told.inner_text()
    assert "at" not in address(page)
    page.mouse.down()
    page.mouse.up()
    chosen = wait_for_address(page, "at")["at"]
    link = page.locator("#commit a[href^='compare.html']").get_attribute("href")
    assert f"right={chosen}" in link


def test_dragging_zooms_and_a_double_click_shows_all_again(site, page):
    benchmark(site, page, meter="instructions")
    box = over(page)
    page.mouse.move(box["x"] + box["width"] * 0.25, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100, steps=4)
    page.mouse.up()
    zoomed = wait_for_address(page, "from")
    commits = [commit.hash[:10] for commit in make_history(MANY).commits]
    assert commits.index(zoomed["from"]) == pytest.approx(MANY * 0.25, abs=3)
    assert commits.index(zoomed["to"]) == pytest.approx(MANY * 0.5, abs=3)
    page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + 100)
    wait_for_address(page, "from", there=False)


def test_keys_move_zoom_and_step_from_commit_to_commit(site, page):
    benchmark(site, page, meter="instructions")
    page.locator(".plot").first.focus()
    page.keyboard.press("End")
    last = wait_for_address(page, "at")["at"]
    commits = [commit.hash[:10] for commit in make_history(MANY).commits]
    assert last == commits[-1]
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("(hash) => location.hash.includes(`at=${hash}`)", arg=commits[-2])
    assert "Commit 398" in page.locator("#commit").inner_text()
    page.keyboard.press("+")
    narrow = wait_for_address(page, "from")
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function("(hash) => !location.hash.includes(`from=${hash}`)", arg=narrow["from"])
    page.keyboard.press("0")
    wait_for_address(page, "from", there=False)


def test_two_fingers_zoom(browser, site):
    with opened(browser, width=390, has_touch=True) as page:
        benchmark(site, page, meter="instructions")
        page.locator(".u-over").first.scroll_into_view_if_needed()
        box = over(page)
        y, middle = box["y"] + 60, box["x"] + box["width"] / 2
        send = page.context.new_cdp_session(page).send
        for kind, apart in (("touchStart", 30), ("touchMove", 60), ("touchMove", 120)):
            points = [
                {"x": middle - apart, "y": y, "id": 0},
                {"x": middle + apart, "y": y, "id": 1},
            ]
            send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        zoomed = wait_for_address(page, "from")
        commits = [commit.hash[:10] for commit in make_history(MANY).commits]
        shown = commits.index(zoomed["to"]) - commits.index(zoomed["from"])
        assert shown == pytest.approx(MANY / 4, abs=MANY / 10)
        assert page.said == []


def test_a_permalink_shows_what_it_names(site, page):
    commits = [commit.hash[:10] for commit in make_history(MANY).commits]
    wanted = {"meter": "instructions", "impl": "cython", "scale": "log", "from": commits[100],
              "to": commits[200], "at": commits[150]}  # fmt: skip
    benchmark(site, page, **wanted)
    assert page.locator("h1").inner_text() == NAME
    assert page.locator("[name=meter]:checked").get_attribute("value") == "instructions"
    assert page.locator(".legend").inner_text().strip() == "Cython"
    assert page.locator("[name=log]").is_checked()
    assert "Commit 150" in page.locator("#commit").inner_text()
    page.wait_for_timeout(400)  # longer than the page waits before it writes the address
    assert address(page) == wanted | {"name": NAME}


def test_implementations_meters_and_scales_are_switched(site, page):
    benchmark(site, page, meter="instructions")
    page.locator("[name=impl][value=python]").uncheck()
    page.wait_for_function("document.querySelectorAll('#plots canvas').length === 1")
    assert page.locator(".legend").inner_text().strip() == "Cython"
    assert address(page)["impl"] == "cython"
    page.locator("[name=impl][value=python]").check()
    page.locator("[name=meter][value=all]").check()
    page.wait_for_function("document.querySelectorAll('#plots canvas').length === 4")
    assert page.locator("#plots h2").all_inner_texts() == [
        "Wall time, a call",
        "Instructions, a call",
    ]
    page.locator("[name=log]").check()
    page.locator("[name=date]").check()
    assert wait_for_address(page, "x")["scale"] == "log"


def test_changes_are_marked_listed_and_lead_to_their_commit(site, page):
    benchmark(site, page, meter="instructions")
    assert page.locator(".mark.regressed").count() == 2
    assert page.locator("#changes-here tbody tr").count() == 2
    page.locator("#changes-here tbody button").first.click()
    assert "Commit 20" in page.locator("#commit").inner_text()
    page.locator("#changes-here tbody a", has_text="compare").first.click()
    page.wait_for_selector("#table:not([hidden])")
    first = page.locator("#table tbody tr").first.inner_text()
    assert NAME in first
    assert "▲ 1.10" in first


def test_a_benchmark_is_searched_with_the_keyboard(site, page):
    page.goto(site.as_uri())
    page.keyboard.press("/")
    page.keyboard.type("decode many")
    page.wait_for_selector("#found [data-name]")
    assert page.locator("#found [data-name]").all_inner_texts() == ["decode_rows.time_many_rows"]
    page.keyboard.press("Enter")
    drawn(page)
    assert page.locator("h1").inner_text() == "decode_rows.time_many_rows"
    page.keyboard.press("/")
    page.keyboard.type("one_row")
    page.wait_for_selector("#found [data-name]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("#found [aria-selected=true]").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_function("(name) => document.querySelector('h1').innerText === name", arg=chosen)


def test_two_commits_are_compared_by_hash_and_by_words_of_their_subject(site, page):
    commits = make_history(MANY).commits
    page.goto(site.with_name("compare.html").as_uri())
    page.wait_for_selector("#table:not([hidden])")
    page.locator("[name=left]").fill(commits[10].hash)
    page.locator("[name=right]").fill("commit 45")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_function(
        "(hash) => document.querySelector('#sides').innerText.includes(hash)",
        arg=commits[10].hash[:10],
    )
    assert "Commit 45" in page.locator("#sides").inner_text()
    page.locator("[name=meter]").select_option("instructions")
    page.locator("[name=moved]").check()
    rows = page.locator("#table tbody tr").all_inner_texts()
    assert sorted(re.search(r"[▲▼] [\d.]+", row)[0] for row in rows) == [
        "▲ 1.100", "▲ 1.100", "▼ 0.800", "▼ 0.800",
    ]  # fmt: skip
    chosen = wait_for_address(page, "moved")
    assert (chosen["left"], chosen["right"]) == (commits[10].hash[:10], commits[45].hash[:10])


def test_the_colour_scheme_can_be_chosen_and_stays_chosen(site, page):
    page.goto(site.as_uri())
    page.get_by_role("button", name="Change the colour scheme").click()
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(20, 24, 31)"
    page.goto(site.with_name("machines.html").as_uri())
    assert page.evaluate(ground) == "rgb(20, 24, 31)"


def test_what_is_shown_can_be_saved(site, page, tmp_path):
    benchmark(site, page, meter="instructions")
    assert page.locator("#pictures a").count() == 3
    with page.expect_download() as download:
        page.locator("#csv").click()
    download.value.save_as(tmp_path / "shown.csv")
    text = (tmp_path / "shown.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == MANY
    assert float(rows[30]["instructions Cython (instructions)"]) == pytest.approx(11_000)


def test_a_benchmark_that_is_not_there_is_said(site, page):
    page.goto(site.with_name("benchmark.html").as_uri() + "#name=no.such")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "no.such" in page.locator("#trouble").inner_text()


def test_a_data_file_that_is_gone_is_said(browser, site, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(site.parent, copy)
    for file in (copy / "site" / "data").glob("commits-*.js"):
        file.unlink()
    with opened(browser) as page:
        page.goto((copy / "benchmark.html").as_uri() + f"#name={NAME}")
        page.wait_for_selector("#trouble:not([hidden])")
        assert "commits-0" in page.locator("#trouble").inner_text()
