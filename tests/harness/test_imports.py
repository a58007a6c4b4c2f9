"""What the import of the package costs, as a case of its own."""

from dataclasses import replace

import pytest

from benchproof import imports
from benchproof.compare import Request, compare
from benchproof.meters import instructions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(instructions.why_not()), reason=f"{instructions.why_not()}"),
]
LOOP = "\n\nfor number in range(20_000):\n    pass\n"
ASKED = Request("HEAD~1@impl:python", "HEAD@impl:python", meters=("instructions",))


def add(toy, name, text):
    toy.write(name, (toy.root / name).read_text() + text)
    toy.commit(f"more in {name}")


def row(document):
    (found,) = [each for each in document["cases"] if each["suite"] == "import"]
    return found


def test_a_loop_at_import_is_a_regression(toy, place, tell):
    add(toy, "driver/__init__.py", LOOP)
    document = compare(replace(ASKED, bench="^import"), place, tell).document
    assert (row(document)["name"], row(document)["verdict"]) == ("import.driver", "regressed")
    counted = row(document)["meters"]["instructions"]
    assert counted["right"] - counted["left"] > 20_000
    assert document["verdict"]["exit"] == 1


def test_a_loop_in_a_module_that_a_benchmark_runs_is_one_too(toy, place, tell):
    add(toy, "driver/work.py", LOOP)
    document = compare(replace(ASKED, bench="spin|^import"), place, tell).document
    said = {each["name"]: each["verdict"] for each in document["cases"]}
    assert said == {"import.driver": "regressed", "toy.time_spin": "equivalent"}


def test_the_same_build_costs_the_same_to_the_digit(place, tell):
    asked = replace(ASKED, left="HEAD@impl:python", bench="^import", force=True)
    counted = row(compare(asked, place, tell).document)["meters"]["instructions"]
    assert counted["left"] == counted["right"] > 0


def test_wall_time_of_an_import_is_taken_where_the_count_moved(toy, place, tell):
    add(toy, "driver/__init__.py", LOOP)
    asked = replace(ASKED, bench="^import", meters=("instructions", "wall"), budget=1)
    meters = row(compare(asked, place, tell).document)["meters"]
    assert len(meters["wall"]["left_samples"]) == imports.BLOCKS
    asked = replace(asked, right=asked.left, force=True)
    assert "wall" not in row(compare(asked, place, tell).document)["meters"]


def test_without_a_meter_for_it_there_is_no_such_case(place, tell):
    asked = replace(ASKED, left="HEAD@impl:python", meters=("bytes",), force=True)
    document = compare(asked, place, tell).document
    assert {each["suite"] for each in document["cases"]} == {"toy"}


def test_a_compiled_module_is_imported_by_the_module_that_loads_it(tmp_path):
    package = tmp_path / "acme"
    package.mkdir()
    (package / "work.py").touch()
    assert (
        imports._importable(tmp_path, "acme", "work", "acme/_cython/work.cpython-311.so")
        == "acme.work"
    )
    assert imports._importable(tmp_path, "acme", "fast", "acme/fast.cpython-311.so") == "acme.fast"
    assert imports._importable(tmp_path, "acme", "acme", "acme/__init__.py") == "acme"
