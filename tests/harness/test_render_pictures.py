"""The pictures: what is drawn, for which ground, and what is left out."""

import importlib.machinery
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchproof.gate.report import words
from benchproof.render import charts, view
from benchproof.render.pictures import MOST, draw_suite, drawable, keep
from tests.harness.sample_comparison import make_comparison, without_valgrind

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "readme-means"


@pytest.fixture(scope="module")
def readme():
    loader = importlib.machinery.SourceFileLoader("readme_means", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def draw(comparison, suite, folder):
    cases = [case for case in comparison["cases"] if case["suite"] == suite]
    return draw_suite(suite, cases, comparison, "1-it", folder)


def test_a_suite_has_two_pictures(tmp_path):
    drawn = draw(make_comparison(), "routing_key", tmp_path)
    assert sorted(drawn) == ["ratios", "samples"]
    assert {path.name for path in tmp_path.iterdir()} == {each.file for each in drawn.values()}
    for path in tmp_path.glob("*.svg"):
        assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314  (what we just wrote)


def test_a_picture_has_its_colours_for_both_grounds_and_no_others(tmp_path):
    drawn = draw(make_comparison(), "routing_key", tmp_path)
    known = {*view.palette("light").values(), *view.palette("dark").values()}
    for picture in drawn.values():
        text = (tmp_path / picture.file).read_text(encoding="utf-8")
        assert set(re.findall(r"#[0-9a-f]{6}", text)) == known
        names = set(re.findall(r"var\(--([\w-]+)", text)) - {"own", "tick"}
        assert names <= view.palette("light").keys()


def test_both_grounds_have_all_colours():
    assert view.palette("light").keys() == view.palette("dark").keys()


def marks(text):
    """The classes of the marks of a picture, without those of its legend, by their place."""
    found = re.findall(r'class="mark ([\w -]+)".*?translate\(([\d.]+) ([\d.]+)\)', text)
    return [(look, float(x), float(y)) for look, x, y in found]


def test_a_mark_lies_where_its_ratio_is_on_the_axis():
    point = charts.Point
    rows = [("a", "", [point("wall", 0.5)]), ("b", "", [point("wall", 1.0)]),
            ("c", "", [point("wall hollow", 2.0, low=1.5, high=2.5)])]  # fmt: skip
    text = charts.chart(rows, "axis", [], room=0.05)
    (_, half, _), (_, one, _), (look, twice, _) = marks(text)
    assert one - half == pytest.approx(twice - one, abs=0.11)  # a tenth of a pixel
    assert look == "wall hollow"
    (start, end) = map(
        float, re.search(r'class="interval".*?x1="([\d.]+)" x2="([\d.]+)"', text).groups()
    )
    assert start < twice < end


def test_a_bar_beyond_the_axis_is_not_drawn():
    rows = [("a", "", [charts.Point("wall", 1.0), charts.Point("tick", 50.0)])]
    assert [look for look, _, _ in marks(charts.chart(rows, "axis", [], room=0.05))] == ["wall"]


def test_what_people_call_things_is_no_markup_in_a_picture():
    text = charts.chart(
        [("<b>", "&", [charts.Point("wall", 1.0)])], "<i>", [("<u>", "wall")], room=0.05
    )
    words = [each.text for each in ET.fromstring(text).iter() if each.tag.endswith("text")]  # noqa: S314  (what we just wrote)
    assert {"<b>", "&", "<i>", "<u>"} <= set(words)


def test_the_same_data_give_the_same_file(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        draw(make_comparison(), "routing_key", tmp_path / folder)
    for path in (tmp_path / "a").glob("*.svg"):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_what_moved_is_drawn_with_the_gravest_first(tmp_path):
    comparison = make_comparison()
    file = tmp_path / "moved.svg"
    keep(comparison, file)
    texts = [e.text for e in ET.parse(file).iter() if e.tag.endswith("text")]  # noqa: S314  (as above)
    found = [case.row for case in words.moved(comparison)]
    assert found
    names = [words.named(case) for case in found]
    assert [text for text in texts if text in names] == names
    assert any("regressed" in str(text) for text in texts)
    for case in comparison["cases"]:
        case["verdict"] = "equivalent"
    keep(comparison, file)  # nothing moved: each case, up to what a picture holds
    rows = ET.parse(file).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314  (as above)
    told = [each.text for each in rows if str(each.text).endswith("= equivalent")]
    assert len(told) == min(MOST, sum(map(drawable, comparison["cases"])))


def test_a_comparison_without_cases_has_a_picture_without_rows(tmp_path):
    keep(make_comparison() | {"cases": []}, tmp_path / "none.svg")
    assert ET.parse(tmp_path / "none.svg").getroot().tag.endswith("svg")  # noqa: S314  (as above)


def test_without_samples_there_is_no_picture_of_samples(tmp_path):
    comparison = make_comparison()
    for case in comparison["cases"]:
        case["meters"].get("wall", {}).pop("left_samples", None)
    assert sorted(draw(comparison, "bind", tmp_path)) == ["ratios"]


def test_without_any_ratio_there_is_no_picture(readme, tmp_path):
    comparison = make_comparison()
    for case in comparison["cases"]:
        case["meters"] = {}
    assert draw(comparison, "bind", tmp_path) == {}
    with pytest.raises(ValueError, match="no case of this comparison has a ratio"):
        readme.draw(comparison, tmp_path / "readme.svg")


def test_the_readme_picture_is_one_svg(readme, tmp_path):
    readme.draw(without_valgrind(make_comparison("impl")), tmp_path / "docs" / "readme.svg")
    assert ET.parse(tmp_path / "docs" / "readme.svg").getroot().tag.endswith("svg")  # noqa: S314  (as above)


def test_the_markdown_table_has_a_line_a_suite_and_one_for_all(readme):
    lines = readme.table(make_comparison("impl")).splitlines()
    assert lines[0].startswith("`HEAD@impl:cython` divided by `HEAD@impl:python`")
    assert [line.split("|")[1].strip() for line in lines[4:]] == [
        "`encode_message`",
        "`bind`",
        "`routing_key`",
        "`result_dispatch`",
        "`decode_rows`",
        "**all**",
    ]


def test_the_markdown_table_says_what_was_not_measured_and_what_a_mean_leaves_out(readme):
    table = readme.table(without_valgrind(make_comparison("impl")))
    assert table.count("not measured") == 6
    commits = readme.table(make_comparison("commits"))
    assert "(2 of 3 cases)" in commits  # routing_key: one proof failed, one ratio is 0 / 0


def test_a_mean_is_the_geometric_mean_of_the_ratios(readme):
    comparison = make_comparison("impl")
    comparison["cases"] = comparison["cases"][:2]
    for case, ratio in zip(comparison["cases"], (0.25, 1.0), strict=True):
        case["meters"]["wall"]["ratio"] = ratio
    assert "| `encode_message` | 2 | 0.500 |" in readme.table(comparison)
