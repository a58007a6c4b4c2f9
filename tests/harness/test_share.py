"""The table of shares: parts of a whole, and what is in none of them."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from benchproof import listing, share
from benchproof.checkout import Checkout
from benchproof.commands.app import app
from benchproof.errors import BenchproofError, SelectionError
from benchproof.suite import from_rows

ROOT = Path(__file__).resolve().parents[2]
METERS = ("wall", "instructions", "allocations")


def case(name, left, right=None, part_of="", meters=METERS):
    right = left if right is None else right
    return {
        "name": f"path.time_{name}",
        "case": name,
        "part_of": part_of and f"path.time_{part_of}",
        "meters": {
            meter: {"left": scale * left, "right": scale * right}
            for meter, scale in (("wall", 1e-9), ("instructions", 10), ("allocations", 0.5))
            if meter in meters
        },
    }


def document(*cases):
    described = {side: {"description": f"the {side} side"} for side in ("left", "right")}
    return {**described, "cases": list(cases)}


WHOLE = (
    case("select_bind", 100, 50, "select"),
    case("select_decode", 600, 300, "select"),
    case("select", 1000, 400),
    case("other", 5),
)


def of(found, side, meter):
    (one,) = (one for one in found if one["side"] == side)
    return one["meters"][meter]


def shown(found, width=80):
    out = io.StringIO()
    share.show(found, Console(file=out, width=width))
    return out.getvalue()


def test_a_part_has_its_share_of_the_whole_and_the_rest_is_unexplained():
    found = of(share.shares(document(*WHOLE), ("left",)), "left", "instructions")
    assert found == {
        "whole": 10_000,
        "parts": [
            {"name": "decode", "value": 6_000, "share": 0.6},
            {"name": "bind", "value": 1_000, "share": 0.1},
        ],
        "unexplained": {"value": 3_000, "share": 0.3},
    }


def test_each_side_has_its_own_shares():
    found = share.shares(document(*WHOLE), ("left", "right"))
    assert of(found, "right", "instructions")["parts"][0]["share"] == 0.75
    assert of(found, "left", "instructions")["parts"][0]["share"] == 0.6


def test_parts_that_are_more_than_the_whole_leave_less_than_nothing():
    found = share.shares(document(case("all", 100), case("all_x", 130, part_of="all")), ("left",))
    assert of(found, "left", "instructions")["unexplained"] == {"value": -300, "share": -0.3}
    assert "-30.0 ns" in shown(found)
    assert "-30.0%" in shown(found)


def test_a_meter_that_lacks_a_part_is_left_out():
    lame = case("all_x", 30, part_of="all", meters=("wall", "instructions"))
    (found,) = share.shares(document(case("all", 100), lame), ("left",))
    assert set(found["meters"]) == {"wall", "instructions"}
    lame = case("all_x", 30, part_of="all", meters=())
    found = share.shares(document(case("all", 100), lame), ("left",))
    assert "no meter measured the whole and all of its parts" in shown(found)


def test_a_whole_of_nothing_has_no_shares():
    found = share.shares(document(case("all", 0), case("all_x", 0, part_of="all")), ("left",))
    assert of(found, "left", "allocations")["parts"][0]["share"] is None
    assert "-" in shown(found)


def test_the_table_fits_80_columns_and_ends_with_the_rest_and_the_whole():
    text = shown(share.shares(document(*WHOLE), ("left", "right")))
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines() if line]
    assert lines[0] == ["path.time_select"]
    assert lines[1] == ["left", "the", "left", "side"]
    assert [line[0] for line in lines[2:7]] == ["part", "decode", "bind", "(in", "whole"]
    assert lines[3] == ["decode", "6,000", "60.0%", "300.0", "60.0%", "600", "ns", "60.0%"]
    assert lines[6][2] == "100.0%"


@pytest.mark.parametrize(
    "cases",
    [
        (case("select", 1), case("other", 1)),
        # The whole was not measured, in two ways.
        (case("select_bind", 1, part_of="select"),),
        (case("select_bind", 1, part_of="select"), case("select", 1, meters=())),
    ],
)
def test_results_without_a_whole_and_its_parts_are_refused(cases):
    with pytest.raises(SelectionError, match="no benchmark of these results is a part"):
        share.shares(document(*cases), ("left",))


def test_an_older_results_file_has_no_parts():
    old = [{k: v for k, v in one.items() if k != "part_of"} for one in WHOLE]
    with pytest.raises(SelectionError, match="is a part of another"):
        share.shares(document(*old), ("left",))


def test_a_side_that_does_not_exist_is_refused():
    answer = CliRunner().invoke(app, ["share", "--side", "middle"])
    assert answer.exit_code == 2
    assert "'middle' is not one of 'left', 'right', 'both'" in answer.stderr


@pytest.mark.parametrize("content", ["no json", "[]", '{"cases": []}'])
def test_a_file_that_is_no_results_file_is_named(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BenchproofError, match=r"x\.json is no results file"):
        share.read(tmp_path / "x.json")
    with pytest.raises(BenchproofError, match="No such file or directory"):
        share.read(tmp_path / "y.json")


def test_the_implementations_of_the_last_run_tell_the_most(tmp_path):
    with pytest.raises(BenchproofError, match="`benchproof run` makes some"):
        share.of_last_run(tmp_path)
    latest = tmp_path / "latest"
    latest.mkdir()
    for name in ("commits", "implementations"):
        (latest / f"{name}.json").touch()
        assert share.of_last_run(tmp_path).stem == name


def test_a_part_names_its_whole_from_the_function_to_the_results():
    suites = ROOT / "asv_benchmarks"
    wholes = {case.name: case.part_of for case in from_rows(listing.early(suites, Checkout(ROOT)))}
    assert set(wholes.values()) <= {"", *wholes}
    parts = [name for name, whole in wholes.items() if whole]
    assert parts
    assert all(wholes[name].rpartition(".")[0] == name.rpartition(".")[0] for name in parts)


def test_the_command_prints_json_that_can_be_read(tmp_path):
    file = tmp_path / "results.json"
    file.write_text(json.dumps(document(*WHOLE)))
    done = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "share", file, "--side", "right", "--json"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    (found,) = json.loads(done.stdout)["shares"]
    assert (found["whole"], found["side"]) == ("path.time_select", "right")
    assert found["meters"]["wall"]["unexplained"]["share"] == pytest.approx(0.125)


def test_the_command_says_in_one_line_what_is_wrong(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "benchproof.cli", "share", tmp_path / "none.json"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("benchproof: No such file or directory")
    assert done.stderr.count("\n") == 1
