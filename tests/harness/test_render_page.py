"""The page, read as a machine reads it: what it says, what it links to, what it leaves behind."""

import copy
import json
import re
from html.parser import HTMLParser

import pytest

from benchproof.render.page import write_page
from tests.harness.sample_comparison import BARE, make_comparison, without_valgrind

VOID = {"meta", "link", "img", "source", "br", "wbr"}


class Reader(HTMLParser):
    """Collects what a test asks about, and fails on tags that don't nest."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids, self.images, self.words = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found[key] for key in ("href", "src", "srcset") if key in found]
        self.images += [found] if tag == "img" else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader


def small(kind="commits"):
    """One suite of a comparison: enough for the page, quick to draw."""
    comparison = make_comparison(kind)
    comparison["cases"] = [c for c in comparison["cases"] if c["suite"] == "routing_key"]
    return comparison


def quiet():
    """A comparison of commits in which nothing is wrong."""
    return small("impl") | {"gates": True}


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    out = tmp_path_factory.mktemp("page")
    return write_page([make_comparison("impl"), make_comparison("commits")], out)


def test_the_answer_comes_first_and_the_gravest_comparison_before_the_others(full):
    text = read(full).text
    places = [
        text.index(words)
        for words in (
            "Regression",
            "51 benchmarks: 2 regressed, and more",
            "51 benchmarks: 51 improved",
            "What was compared",
        )
    ]
    assert places == sorted(places)


def test_everything_that_the_page_links_to_lies_beside_it(full):
    reader = read(full)
    for link in reader.links:
        if link.startswith("#"):
            assert link[1:] in reader.ids, link
        elif link != "data:,":
            assert not re.match(r"[a-z]+:|/", link), link
            assert (full.parent / link).stat().st_size > 0, link


def test_ids_are_unique(full):
    ids = read(full).ids
    assert len(ids) == len(set(ids))


def test_every_picture_says_in_words_what_it_shows(full):
    images = read(full).images
    assert len(images) == 2 * 2 * 5
    assert all(len(image["alt"]) > 60 for image in images)


def test_the_page_needs_neither_network_nor_script(full):
    page = full.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http" not in page
    assert "url(" not in page


def test_undecided_is_never_called_unchanged(full):
    # The explanation of the word at the foot of the page is the one exception.
    body = read(full).text.partition("How to read this page")[0]
    assert "undecided; could see" in body
    assert not re.search(r"unchanged|no change|the same", body)


def test_states_without_figures_show_their_reason(full):
    text = read(full).text
    for words in (
        "not applicable HEAD~1 has no driver.statements.bound",
        "proof failed types.marshal is marshal.py, expected the compiled module",
        "different answers digest 9f86d081 on the left, 60303ae2 on the right",
        "error worker ended with status -9",
    ):
        assert words in text


def test_a_case_whose_meters_disagree_is_one_of_the_first_things_to_look_at(tmp_path):
    comparison = quiet()
    case = comparison["cases"][0] | {"verdict": "improved", "note": "wall time disagrees"}
    case["meters"]["instructions"]["verdict"] = "improved"
    case["meters"]["wall"]["verdict"] = "regressed"
    comparison["cases"][0] = case
    text = read(write_page([comparison], tmp_path)).text
    first = text.partition("Look at these first")[2].partition("What was compared")[0]
    assert "wall time disagrees" in first


def test_a_meter_that_was_not_measured_has_a_reason(tmp_path):
    text = read(write_page([without_valgrind(small("impl"))], tmp_path)).text
    assert "instructions: not measured: valgrind is not installed" in text


def test_good_news_is_a_sentence_beside_the_names_of_both_sides(tmp_path):
    text = read(write_page([quiet()], tmp_path)).text
    assert "51 benchmarks: 51 improved" in text
    assert "Ratio HEAD@impl:cython ÷ HEAD@impl:python" in text


def test_what_a_project_calls_a_benchmark_stands_below_its_name(tmp_path):
    comparison = quiet()
    comparison["cases"][0] |= {"pretty_name": "A key of <one> number", "verdict": "regressed"}
    text = read(write_page([comparison], tmp_path)).text
    assert 'routing_key.time_single_int "A key of <one> number"' in text
    assert "single_ int A key of <one> number" in text


def test_a_partial_comparison_says_so(tmp_path):
    text = read(write_page([{**quiet(), "partial": True}], tmp_path)).text
    assert "Partial: the run was stopped" in text
    assert "No regression in what was compared" in text


def test_a_comparison_for_information_has_no_regression_but_can_fail_to_measure(tmp_path):
    comparison = small("impl")
    comparison["verdict"] = {"status": "regression", "exit": 1, "summary": "51 regressed"}
    text = read(write_page([comparison], tmp_path)).text
    assert text.startswith("No commits were compared · benchproof")
    comparison["verdict"]["summary"] = "4 benchmarks: 1 not measured (proof failed)"
    comparison["cases"][0].update(status="proof failed", meters={}, verdict=None)
    text = read(write_page([comparison], tmp_path)).text
    assert text.startswith("Could not measure")
    assert "4 benchmarks: 1 not measured (proof failed)" in text


def test_the_note_of_the_job_stands_beside_the_summary(tmp_path):
    note = "HEAD does not change the driver; its parent is measured instead"
    assert note in read(write_page([small() | {"note": note}], tmp_path)).text


def test_a_status_that_the_page_does_not_know_is_not_good_news(tmp_path):
    comparison = {**small("impl"), "verdict": {"status": "fine", "summary": "all fine"}}
    assert "Could not measure" in read(write_page([comparison], tmp_path)).text


def test_a_comparison_without_cases_makes_a_page_too(tmp_path):
    assert "What was compared" in read(write_page([BARE], tmp_path)).text


def test_no_comparison_at_all_makes_a_page_too(tmp_path):
    assert "Nothing was compared" in read(write_page([], tmp_path)).text


def test_texts_from_outside_are_escaped(tmp_path):
    comparison = small()
    comparison["title"] = "<script>alert(1)</script>"
    comparison["left"]["subject"] = 'a <b>bold</b> & "quoted" subject'
    comparison["cases"][0]["why"] = "<img src=x>"
    page = write_page([comparison], tmp_path)
    assert "<script" not in page.read_text(encoding="utf-8")
    assert 'a <b>bold</b> & "quoted" subject' in read(page).text


def test_the_raw_data_are_strict_json_and_complete(tmp_path):
    comparison = small()
    before = copy.deepcopy(comparison)
    page = write_page([comparison], tmp_path)
    (path,) = (page.parent / "data").iterdir()

    def refuse(name):
        raise AssertionError(name)

    data = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    assert [case["name"] for case in data["cases"]] == [case["name"] for case in before["cases"]]
    assert data["cases"][3]["meters"]["allocations"]["ratio"] is None
    assert data["cases"][0]["meters"]["wall"] == before["cases"][0]["meters"]["wall"]


def test_a_second_page_removes_the_pictures_of_the_first_and_nothing_else(tmp_path):
    write_page([small("impl")], tmp_path)
    (tmp_path / "claims.html").write_text("not ours", encoding="utf-8")
    write_page([BARE], tmp_path)
    assert list((tmp_path / "pictures").iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "claims.html",
        "data",
        "index.html",
        "pictures",
        "run.html",
    ]


def test_the_first_page_is_left_to_the_site_if_one_was_published(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "index.html").write_text("the site's", encoding="utf-8")
    page = write_page([BARE], tmp_path)
    assert page.name == "run.html"
    assert 'href="index.html"' in page.read_text(encoding="utf-8")
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "the site's"


def test_without_a_site_the_page_is_the_first_page_too(tmp_path):
    page = write_page([BARE], tmp_path)
    assert page.name == "index.html"
    assert page.read_bytes() == page.with_name("run.html").read_bytes()


def test_the_page_that_stood_there_survives_a_page_that_fails(tmp_path):
    page = write_page([BARE], tmp_path)
    before = page.read_text(encoding="utf-8")
    with pytest.raises(TypeError):
        write_page([BARE | {"cases": ["not a case"]}], tmp_path)
    assert page.read_text(encoding="utf-8") == before


def with_undecided_time(part=1.0):
    """A comparison of equal commits, whose time was undecided in so many of its cases."""
    comparison = quiet()
    for number, case in enumerate(comparison["cases"]):
        case |= {"verdict": "equivalent"}
        if number < part * len(comparison["cases"]):
            case["meters"]["wall"] |= {"verdict": "undecided", "ratio": 0.9973, "low": 0.5,
                                       "high": 2.0, "detectable": 5.6}  # fmt: skip
    return comparison


def test_a_mean_of_undecided_times_is_no_figure(tmp_path):
    page = write_page([with_undecided_time()], tmp_path)
    card = read(page).text.partition("What was compared")[0]
    assert "time undecided in 4 of 4 cases" in card
    assert "0.997" not in card
    html = page.read_text(encoding="utf-8")
    assert '<span class="ratio undecided">? 0.997</span>' in html
    assert "undecided; could see \N{MULTIPLICATION SIGN}5.60" in read(page).text
    assert "0.997" not in " ".join(image["alt"] for image in read(page).images)


def test_the_pictures_put_no_undecided_time_beside_a_verdict(tmp_path):
    write_page([with_undecided_time()], tmp_path)
    drawings = [path.read_text(encoding="utf-8") for path in tmp_path.glob("pictures/*ratios*.svg")]
    assert drawings
    assert not any("0.997" in drawing for drawing in drawings)


def test_a_mean_over_mostly_decided_times_says_in_how_many_it_is_undecided(tmp_path):
    text = read(write_page([with_undecided_time(0.25)], tmp_path)).text
    assert re.search(r"time 0\.\d+ undecided in 1 instructions", text)


def test_a_trade_off_is_one_of_the_first_things_to_look_at(tmp_path):
    comparison = quiet()
    comparison["cases"][0] |= {"verdict": "trade-off", "note": "instructions improved (-47.1 %); "
                               "bytes regressed (+10.2 %)"}  # fmt: skip
    text = read(write_page([comparison], tmp_path)).text
    first = text.partition("Look at these first")[2].partition("What was compared")[0]
    assert "trade-off routing_key" in first
    assert "bytes regressed (+10.2 %)" in first
    assert "1 trade-off" in text


def test_a_suite_that_moved_as_a_whole_is_in_the_answer_and_beside_its_cases(tmp_path):
    about = {"cases": 26, "up": 26, "down": 0, "ratio": 1.002, "low": 1.002, "high": 1.002,
             "limit": 0.001, "verdict": "regressed"}  # fmt: skip
    comparison = quiet()
    comparison["suites"] = [{"name": "routing_key", "cases": 26, "verdict": "regressed", "note": "",
                             "meters": {"instructions": about}}]  # fmt: skip
    text = read(write_page([comparison], tmp_path)).text
    assert "routing_key as a whole regressed" in text
    assert "The suite as a whole: ▲ regressed: instructions +0.20" in text
