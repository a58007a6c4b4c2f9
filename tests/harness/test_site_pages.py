"""The pages: whole without any part, safe with any text, small, and linked to each other."""

import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from benchproof.history.model import History
from benchproof.render import view
from benchproof.site import claimed, pages, views
from tests.harness.sample_history import HOSTILE, make_commits, make_history
from tests.harness.sample_site import given, make_site

VOID = {"meta", "link", "img", "input", "br", "wbr", "hr"}


#: The vendored library, and the SHA-256 of its files: they are those of its release, unchanged.
UPLOT = "1.6.32"
SUMS = {
    "uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot/LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


class Page(HTMLParser):
    """Balance, links, ids and scripts of a page."""

    def __init__(self, file):
        super().__init__()
        self.open, self.links, self.ids, self.sources, self.images = [], [], [], [], 0
        self.text = file.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.images += tag == "img"
        self.links += [given["href"]] if tag == "a" else []
        self.sources += [given["src"]] if given.get("src") else []
        self.ids += [given["id"]] if "id" in given else []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def site(tmp_path, monkeypatch):
    return make_site(tmp_path, monkeypatch).page.parent


@pytest.fixture
def empty(tmp_path, monkeypatch):
    return make_site(tmp_path, monkeypatch, History([], {})).page.parent


@pytest.mark.parametrize("name", pages.PAGES)
@pytest.mark.parametrize("which", ["site", "empty"])
def test_every_page_is_whole_and_its_links_lead_somewhere(request, which, name):
    folder = request.getfixturevalue(which)
    page = Page(folder / name)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert page.images == 0, "a subject was taken for markup"
    for target in [*page.links, *page.sources]:
        file, _, anchor = target.partition("#")
        if file.startswith("https://"):
            continue
        assert (folder / (file or name)).exists(), target
        if anchor and "=" not in anchor:
            assert anchor in Page(folder / (file or name)).ids, target


def test_subjects_are_escaped_in_pages_and_whole_in_data(tmp_path, monkeypatch):
    history = make_history()
    monkeypatch.setattr(views, "newest_first", lambda _: [])
    folder = make_site(tmp_path, monkeypatch, history).page.parent
    assert given(folder, "commits-0")["subject"][7] == HOSTILE
    for file in (folder / "site" / "data").iterdir():
        # A script beside the page is no markup, but a search for what looks like it finds nothing.
        assert "</script" not in file.read_text(encoding="utf-8") or file.name.startswith("commits")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("index.html", "benchproof history"),
        ("benchmarks.html", "benchproof history"),
        ("changes.html", "benchproof history"),
        ("implementations.html", "benchproof history"),
        ("machines.html", "benchproof history"),
        ("ledger.html", "claims.json"),
        ("leaderboard.html", "leaderboard.json"),
        ("calibration.html", "has not been measured here"),
    ],
)
def test_a_part_that_is_missing_says_which_command_makes_it(empty, name, words):
    assert words in (empty / name).read_text(encoding="utf-8")


def test_reports_without_results_say_so_too(tmp_path):
    from benchproof.site.publication import Asked, publish
    from tests.harness.sample_site import QUIET, make_checkout

    checkout = make_checkout(tmp_path / "checkout")
    reports = checkout.root / "reports"
    reports.mkdir()
    done = publish(Asked(reports, tmp_path / "out"), checkout, tmp_path / "cache", QUIET)
    assert "No history was measured" in done.page.read_text(encoding="utf-8")
    assert any("No history was measured" in line for line in done.said)


def test_files_that_were_left_out_are_named_with_the_reason(site):
    text = (site / "left-out.html").read_text(encoding="utf-8")
    assert "results/asv/box/cut-off.json" in text
    assert "it ends in the middle" in text
    assert "1 file was left out" in (site / "index.html").read_text(encoding="utf-8")


def test_the_overview_names_the_worst_open_regression_and_the_newest_change(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    worst = text[text.index('id="worst"') : text.index('id="suites"')]
    assert "bind" in worst
    assert "+10.0" in worst
    newest = text[text.index('id="newest"') :]
    assert newest.index("Commit 30") < newest.index("Commit 20")


def test_a_permalink_names_what_it_is_of():
    address = views.benchmark("a.time_b c", meter="wall", impl="cython", at=None)
    file, _, choice = address.partition("#")
    assert file == "benchmark.html"
    assert parse_qs(choice) == {"name": ["a.time_b c"], "meter": ["wall"], "impl": ["cython"]}


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/some/project.git", "https://github.com/some/project/commit/"),
        ("git@github.com:some/project.git", "https://github.com/some/project/commit/"),
        ("https://user:secret@github.com/some/project", "https://github.com/some/project/commit/"),
        ("ssh://git@gitlab.com/a/b/c.git", "https://gitlab.com/a/b/c/-/commit/"),
        ("https://git.internal.example/some/project.git", ""),
        ("/srv/git/project", ""),
        ("../project", ""),
    ],
)
def test_only_remotes_on_known_hosts_become_links(remote, address):
    assert views.of_remote(remote) == address


def test_the_first_page_with_its_scripts_is_small(tmp_path, monkeypatch):
    folder = make_site(tmp_path, monkeypatch, make_history(2000)).page.parent
    page = Page(folder / "index.html")
    names = re.search(r'data-names="([^"]+)"', page.text)[1]
    files = [folder / source for source in page.sources] + [folder / "site" / "data" / names]
    assert len(page.text.encode()) + sum(file.stat().st_size for file in files) < 1_000_000


def test_what_the_overview_says_of_the_ledger():
    from ledger import judge, reader
    from ledger.page import document

    from tests.harness import sample_ledger

    ledger = reader.parse(sample_ledger.LEDGER)
    judged = document(judge.judge(ledger, [], list(ledger.rows), {}))
    assert claimed.card(judged) == {
        "look": "broken", "headline": "0 of 4 reproduced or exceeded", "summary": judged["summary"],
    }  # fmt: skip
    assert claimed.card(None) is None


def test_the_vendored_library_is_the_one_that_was_pinned():
    static = Path(pages.__file__).parent / "static"
    for name, known in SUMS.items():
        assert hashlib.sha256((static / name).read_bytes()).hexdigest() == known
    readme = (static / "uplot" / "README.md").read_text(encoding="utf-8")
    assert f"uPlot {UPLOT}" in readme
    assert f"(v{UPLOT})" in (static / "uplot" / "uPlot.iife.min.js").read_text("utf-8")[:80]


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground_and_lines_do(scheme):
    colours = view.palette(scheme)
    for ground in ("ground", "panel"):
        for name in ("ink", "muted", "link", "regressed", "improved", "equivalent", "undecided",
                     "broken", "platform"):  # fmt: skip
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    for name in ("python", "cython", "ratio"):
        assert contrast(colours[name], colours["ground"]) >= 3


def test_hashes_of_the_sample_are_not_alike():
    assert len({commit.hash[:4] for commit in make_commits(40)}) == 40
