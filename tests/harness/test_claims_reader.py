"""A ledger is read strictly: what is wrong with it is one line, with the line of the file."""

import re
from pathlib import Path

import pytest
from ledger import reader
from ledger.figures import LedgerError

from tests.harness.sample_ledger import LEDGER

ROOT = Path(__file__).resolve().parents[2]


def line_of(text, words):
    return next(n for n, line in enumerate(text.splitlines(), 1) if words in line)


def test_a_ledger_is_read_with_what_its_tables_say_for_all_of_their_figures():
    ledger = reader.parse(LEDGER)
    time, objects, saving, elsewhere = ledger.figures
    assert (time.metric, time.unit, time.scope, time.impl) == ("time", "ns", "whole", None)
    assert (objects.metric, objects.unit, objects.scope) == ("objects", "1", "part")
    assert time.table.page.url == "https://example.org/pull/7"
    assert time.ratio == (0.5, 0.5)
    assert (objects.basis, objects.saving) == ("saving", (2.0, 2.0))
    assert (saving.basis, elsewhere.ratio) == ("none", (1 / 3, 1 / 2))
    assert ledger.benchmarks(["7-1", "7-2"]) == {
        "toy.time_spin": line_of(LEDGER, 'change = "words only"') - 3
    }


@pytest.mark.parametrize(
    ("before", "after", "words", "at"),
    [
        ('case = "spin"', 'case = "spin"\ncolour = "red"', "unknown key 'colour'", "colour"),
        ('case = "spin"\n', "", "missing key 'case'", None),
        ('id = "spin-objects"', 'id = "spin-time"', "duplicate id 'spin-time'", None),
        ('metric = "objects"', 'metric = "luck"', "no meter measures 'luck'", "luck"),
        ('unit = "1"', 'unit = "kg"', "objects is told in 1, not 'kg'", "kg"),
        ('row = "7-1"', 'row = "7-9"', "unknown row '7-9'", "7-9"),
        ('table = "times"', 'table = "lost"', "unknown table 'lost'", "lost"),
        ("after = 100", "after = 300", "claims a loss", None),
        ("after = 100", 'after = "few"', "after must be a number", "few"),
        ("after = 100", "after = true", "after must be a number", "after = true"),
        ("after = 100", "after = [9, 3]", "after must be a number", "after = [9"),
        ("after = 100\n", "", "must have both before and after", None),
        ("before = 200", "before = 200\nspeedup = 9", "contradicts itself", None),
        ("before = 200\nafter = 100\n", "", "has no number", None),
        ('scope = "part"', 'scope = "half"', "scope must be whole or part", "half"),
        ('impl = "any"', 'impl = "rust"', "impl must be python, cython or any", None),
        ("saved = 100", 'saved = 100\nno_case = "x"', "one of the four", None),
        ('"toy.time_spin"\n\n[[figure]]\nid = "spin-obj', '"("\n\n[[figure]]\nid = "spin-obj',
         "no regular expression", '"("'),
        ('change = "spin faster"', 'change = "spin faster"\nno_figure = "x"',
         "has figures, and says why it has none", None),
        ('no_figure = "it is about words"\n', "", "no figure: add one, or say why", None),
        ('also = ["toy.time_spin"]', 'also = "toy.time_spin"', "also must be a list", "also"),
        ('also = ["toy.time_spin"]', 'of = ["7-9"]', "the sum of '7-9'", "7-9"),
        ('conditions = "one call"', "conditions = 3", "conditions must be a text", "= 3"),
        ("[[page]]", "[[pages]]", "unknown table 'pages'", "[[pages]]"),
        ("[[page]]", "[page]", "write each page as [[page]]", None),
        ('title = "', "title = ", "no TOML", "title ="),
        ('case = "spin"', 'case = """spin"""', "stands on one line", '"""'),
        ('no_case = "nobody has been there"', 'ends_of = ["x"]', "unknown figure 'x'", "ends_of"),
        ('no_case = "nobody', 'not_exercised = "x"\nno_case = "nobody',
         "not_exercised is said of a benchmark", "not_exercised"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_the_place(before, after, words, at):
    assert before in LEDGER
    text = LEDGER.replace(before, after, 1)
    with pytest.raises(LedgerError, match=re.escape(words)) as caught:
        reader.parse(text, "mine.toml")
    message = str(caught.value)
    assert "\n" not in message
    number = int(re.match(r"mine\.toml:(\d+): ", message)[1])
    assert 1 <= number <= len(text.splitlines())
    if at is not None:
        assert number == line_of(text, at)


def test_nothing_left_of_a_whole_is_refused():
    text = LEDGER.replace('scope = "part"\n', "").replace(
        "before = 2\n", "before = 2\nspeedup = 1\n"
    )
    with pytest.raises(LedgerError):
        reader.parse(text)


def test_a_ledger_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger"):
        reader.read(tmp_path / "claims.toml")


@pytest.mark.parametrize(
    ("known", "words"),
    [(["toy.time_boxes"], "matches none of 1"), (["toy.time_spin", "toyXtime_spin"], "matches 2")],
)
def test_a_benchmark_that_is_not_exactly_one_is_refused_with_its_line(known, words):
    ledger = reader.parse(LEDGER)
    with pytest.raises(LedgerError, match=rf"claims\.toml:\d+: .*{words}"):
        reader.check_benchmarks(ledger, ["7-1"], known)


def test_an_expression_finds_its_benchmark():
    ledger = reader.parse(LEDGER.replace('"toy.time_spin"', '".*_spin"'))
    found = reader.check_benchmarks(ledger, ["7-1", "7-2"], ["toy.time_boxes", "toy.time_spin"])
    assert found == {".*_spin": "toy.time_spin"}


#: The changes of the pull requests, the sums of two of them, and two other projects.
ROWS = {
    "799-1", "800-1", "800-2", *(f"805-{n}" for n in range(1, 12)), "630-1",
    *(f"748-{n}" for n in (1, 2, 3)), "749-1", "749-2", *(f"20148-{n}" for n in range(1, 10)),
    "805", "20148", "rsylla", "cassarrow",
}  # fmt: skip


def test_our_own_ledger_has_every_row():
    assert set(reader.read(ROOT / "claims.toml").rows) == ROWS


def benchmarks(suite):
    """The names that asv would find in one of our suites."""
    from importlib import import_module

    found = vars(import_module(f"asv_benchmarks.{suite}"))
    return [f"{suite}.{name}" for name in found if name.startswith("time_")]


def test_every_benchmark_that_our_own_ledger_names_is_there():
    ledger = reader.read(ROOT / "claims.toml")
    suites = {name.partition(".")[0] for name in ledger.benchmarks(list(ledger.rows))}
    assert all((ROOT / "asv_benchmarks" / f"{suite}.py").exists() for suite in suites)
    known = [name for suite in suites for name in benchmarks(suite)]
    assert reader.check_benchmarks(ledger, ledger.rows, known)


def test_the_example_in_the_documentation_is_a_ledger():
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert reader.parse(example).figures
