"""The pictures: what is drawn, on which ground, and what is left out."""

import importlib.machinery
import importlib.util
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from benchproof.render import view
from benchproof.render.charts import DARK, LIGHT, darken
from benchproof.render.pictures import draw_suite
from tests.harness.sample_comparison import make_comparison, without_valgrind

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "readme-means"


@pytest.fixture(scope="module")
def readme():
    loader = importlib.machinery.SourceFileLoader("readme_means", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def draw(comparison, suite, folder):
    shown = view.read(comparison, 1)
    return draw_suite(next(s for s in shown.suites if s.name == suite), shown, folder)


def test_a_suite_has_two_pictures_in_every_variant(tmp_path):
    drawn = draw(make_comparison(), "routing_key", tmp_path)
    assert sorted(drawn) == ["ratios", "samples"]
    assert {path.name for path in tmp_path.iterdir()} == {
        name for picture in drawn.values() for name in picture.files
    }
    for path in tmp_path.glob("*.svg"):
        assert ET.parse(path).getroot().tag.endswith("svg")  # noqa: S314  (what matplotlib just wrote)
    for path in tmp_path.glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_the_dark_picture_has_no_light_colour_left(tmp_path):
    drawn = draw(make_comparison(), "routing_key", tmp_path)
    for picture in drawn.values():
        dark = (tmp_path / f"{picture.stem}-wide-dark.svg").read_text(encoding="utf-8")
        light = (tmp_path / f"{picture.stem}-wide.svg").read_text(encoding="utf-8")
        changed = {LIGHT[name] for name in LIGHT if LIGHT[name] != DARK[name]}
        assert not [colour for colour in changed if colour in dark]
        assert LIGHT["ink"] in light
        assert DARK["ink"] in dark


def test_colours_have_one_purpose_each_so_that_they_can_be_replaced():
    assert len(set(LIGHT.values())) == len(LIGHT)
    assert LIGHT.keys() == DARK.keys()
    assert darken(" ".join(LIGHT.values())) == " ".join(DARK.values())


def test_the_same_data_give_the_same_file(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        draw(make_comparison(), "routing_key", tmp_path / folder)
    for path in (tmp_path / "a").glob("*.svg"):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


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
        readme.draw(comparison, tmp_path / "readme.png")


def test_the_readme_picture_is_one_png(readme, tmp_path):
    readme.draw(without_valgrind(make_comparison("impl")), tmp_path / "docs" / "readme.png")
    assert (tmp_path / "docs" / "readme.png").read_bytes().startswith(b"\x89PNG")


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
