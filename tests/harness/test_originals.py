"""Pull requests in their own repository: table, verdicts, proof, a whole measurement."""

import sys
import types

import pytest
from pull_requests import measuring, page, table
from pull_requests.judging import Judged, claimed_gain, judge, worst
from pull_requests.suite import proving

from tests.harness.toy import BUILT_BY_SETUPTOOLS, Repository

TIME = {"metric": "time", "before": 200, "after": 100}  # a gain of 1
TABLE = """
repository = "{address}"

[builds.python]
CASS_DRIVER_X = "1"

[[pull]]
id = "7"
title = "sums"

[[change]]
id = "7"
pull = "7"
about = "a sum by the builtin"
base = "{base}"
head = "{head}"
builds = ["python"]
"""
FIGURE = """
[[figure]]
change = "7"
id = "7-{name}"
where = "description"
case = "{name}"
python = "CPython 3.14"
metric = "{metric}"
scope = "whole"
impl = "python"
before = {before}
after = {after}
benchmark = "hot.time_{name}"
"""
LEDGER = """
[[table]]
id = "t"
where = "title"
metric = "time"
unit = "ns"
[[row]]
id = "7-1"
page = "7"
[[figure]]
id = "7-1-known"
row = "7-1"
table = "t"
case = "known"
no_case = "nobody can measure it"
"""


def row(low, high=None, *, status="measured", why="", left=10.0, right=10.0):
    """A case of a comparison's document."""
    high = low if high is None else high
    about = {"left": left, "right": right}
    return {"status": status, "why": why, "meters": {
        "instructions": {"ratio": (low + high) / 2, "low": low, "high": high, "limit": 0.003},
        "allocations": about, "bytes": about,
    }}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.50, 0.50, "reproduced"),
        (0.45, 0.55, "reproduced"),  # gains of 0.82 and 1.22
        (0.30, 0.40, "exceeded"),
        (0.60, 0.90, "smaller"),
        (0.999, 0.999, "not reproduced"),
        (1.10, 1.20, "not reproduced"),
        (0.50, 0.60, "undecided"),
        (0.40, 0.50, "undecided"),
        (0.90, 1.00, "undecided"),
    ],
)
def test_a_ratio_is_judged_by_its_whole_interval(low, high, verdict):
    assert judge(TIME, row(low, high)).verdict == verdict


def test_exceeded_says_by_how_much():
    assert judge(TIME, row(0.2)).times == pytest.approx(4)
    assert page._verdict(judge(TIME, row(0.2))) == "exceeded: 4 times the gain"
    assert page._verdict(judge(TIME, row(0.8))) == "smaller: 25% of the gain"
    assert page._verdict(judge(TIME, row(1.2))) == "not reproduced: dearer"
    assert page._verdict(judge(TIME, row(1.002))) == "not reproduced: 0% of the gain"


@pytest.mark.parametrize(
    ("says", "gain"),
    [
        ({"before": 200, "after": 100}, (1, 1)),
        ({"before": [200, 300], "after": [100, 200]}, (0.5, 1)),
        ({"speedup": 3}, (2, 2)),
        ({"speedup": [1.5, 3]}, (0.5, 2)),
        ({"saved_percent": 50}, (1, 1)),
        ({"saved": 20}, None),
    ],
)
def test_the_gain_that_a_page_claims(says, gain):
    assert claimed_gain(says) == (gain if gain is None else pytest.approx(gain))


@pytest.mark.parametrize(
    ("says", "left", "right", "verdict"),
    [
        ({"metric": "objects", "before": 10, "after": 0}, 30, 20, "reproduced"),
        ({"metric": "objects", "before": 10, "after": 0}, 30, 27, "smaller"),
        ({"metric": "objects", "before": 10, "after": 0}, 50, 20, "reproduced"),
        ({"metric": "allocations", "before": 10, "after": 0}, 50, 20, "exceeded"),
        ({"metric": "objects", "before": 10, "after": 0}, 20, 24, "not reproduced"),
        ({"metric": "objects", "before": 1, "after": 1}, 7, 7, "reproduced"),
        ({"metric": "objects", "before": 1, "after": 1}, 7, 9, "not reproduced"),
        ({"metric": "bytes", "unit": "KB", "saved": 2}, 5000, 3000, "reproduced"),
        ({"metric": "bytes", "unit": "B", "saved": [100, 200]}, 500, 250, "reproduced"),
    ],
)
def test_what_went_away_is_judged_by_its_number(says, left, right, verdict):
    assert judge(says, row(1, left=left, right=right)).verdict == verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (None, "not measured"),
        (row(1, status="error", why="left: KeyError"), "not measured"),
        (row(1, status="different answers", why="digests a and b"), "answers differ"),
        (row(1, status="proof failed", why="left: time_x did not reach a:b"), "not exercised"),
        (row(1, status="proof failed", why="left: another file"), "not measured"),
    ],
)
def test_what_has_no_numbers_says_why(found, verdict):
    assert judge(TIME, found).verdict == verdict


def test_nanoseconds_of_two_machines_are_not_compared():
    assert judge({"metric": "time", "saved": 15}, row(0.5)) == Judged("nothing to compare")


def test_of_two_builds_the_worse_verdict_counts():
    assert worst(["reproduced", "smaller"]) == "smaller"
    assert worst(["exceeded", "not exercised", "not reproduced"]) == "not exercised"


@pytest.fixture
def cassandra(monkeypatch):
    """A package of that name, of one module."""
    module = types.ModuleType("cassandra.query")
    module.__file__ = "query.py"

    class Statement:
        @classmethod
        def framed(cls, part):
            return part + cls.end()

        @staticmethod
        def end():
            return b"."

        @property
        def key(self):
            return self.framed(b"key")

    Statement.__module__, module.Statement = module.__name__, Statement
    monkeypatch.setitem(sys.modules, "cassandra", types.ModuleType("cassandra"))
    monkeypatch.setitem(sys.modules, "cassandra.query", module)
    return Statement


@pytest.mark.parametrize("name", ["Statement.framed", "Statement.end", "Statement.key"])
def test_a_proof_counts_the_function_that_changed(cassandra, name):
    before = vars(cassandra)[name.partition(".")[2]]

    @proving.proved([f"query:{name}", "query:gone", "absent:f"], ["query", "absent"])
    def time_key():
        return cassandra().key

    proof = time_key.prove()
    assert proof["probe"] == {"reached": {f"query:{name}": 1}}
    assert proof["modules"] == {"query": "query.py"}
    assert vars(cassandra)[name.partition(".")[2]] is before


def test_a_case_that_misses_what_changed_is_refused(cassandra):
    @proving.proved(["query:Statement.framed"], ["query"])
    def time_end():
        return cassandra.end()

    with pytest.raises(AssertionError, match=r"time_end did not reach query:Statement\.framed"):
        time_end.prove()

    @proving.proved(["query:gone"], ["query"])
    def time_gone():
        return cassandra.end()

    with pytest.raises(AssertionError, match="did not reach"):
        time_gone.prove()


def test_both_sides_have_the_same_digest_only_for_the_same_answer(cassandra):
    def case(value):
        @proving.proved(["query:Statement.framed"], [], answer=len)
        def time_framed():
            return cassandra.framed(value)

        return time_framed.prove()["digest"]

    assert case(b"ab") == case(b"cd") != case(b"abc")


def written(folder, *figures, **more):
    """A table and a ledger."""
    about = {"address": "nowhere", "base": "a", "head": "b"} | more
    (folder / "t.toml").write_text(TABLE.format(**about) + "".join(figures), encoding="utf-8")
    (folder / "l.toml").write_text(LEDGER, encoding="utf-8")
    return table.read(folder / "t.toml", folder / "l.toml")


def figure(name="sum", metric="time", before=2, after=1):
    """A figure of the table."""
    return FIGURE.format(name=name, metric=metric, before=before, after=after)


def test_what_the_ledger_cannot_measure_is_told_without_being_named(tmp_path):
    found = written(tmp_path, figure())
    assert {each.id: each.why for each in found.figures} == {
        "7-sum": "", "7-1-known": "nobody can measure it",
    }  # fmt: skip


def test_a_range_over_figures_of_the_ledger_is_none_of_its_own(tmp_path):
    (tmp_path / "t.toml").write_text(TABLE.format(address="x", base="a", head="b") + figure())
    ledger = LEDGER.replace('no_case = "nobody can measure it"', 'ends_of = ["7-2"]')
    (tmp_path / "l.toml").write_text(ledger, encoding="utf-8")
    found = table.read(tmp_path / "t.toml", tmp_path / "l.toml")
    assert [each.id for each in found.figures] == ["7-sum"]


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ([figure(), figure()], "7-sum stands there twice"),
        ([figure().replace('change = "7"', 'change = "8"')], "no change '8'"),
        ([figure().replace("benchmark", "no_benchmark")], "either a change and a benchmark"),
        (['[[figure]]\nis = "7-2"\nchange = "7"\n'], "no figure of the ledger is '7-2'"),
    ],
)
def test_a_table_that_cannot_be_meant_is_one_line(tmp_path, figures, said):
    with pytest.raises(table.TableError, match=said):
        written(tmp_path, *figures)


BENCH = """
import cassandra


def proved(function):
    def prove():
        return {"modules": {"__init__": cassandra.__file__}, "digest": str(function())}

    function.prove = prove
    return function


@proved
def time_sum():
    return cassandra.total(40)


@proved
def time_same():
    return cassandra.same()


@proved
def time_other():
    return cassandra.other()
"""
BASE = """
def total(number):
    result = 0
    for each in range(number):
        result += each
    return result


def same():
    return [0] * 10


def other():
    return 1
"""
LOOP = "result = 0\n    for each in range(number):\n        result += each\n    return result"
HEAD = BASE.replace(LOOP, "return sum(range(number))").replace("return 1", "return 2")


@pytest.mark.slow
def test_a_change_is_measured_in_its_own_repository_from_a_bare_copy(tmp_path, monkeypatch, cache):
    origin = Repository(tmp_path / "origin")
    origin.write("pyproject.toml", BUILT_BY_SETUPTOOLS + 'name = "cassandra"\n')
    origin.write("cassandra/__init__.py", BASE)
    base = origin.commit("a package")
    origin.write("cassandra/__init__.py", HEAD)
    head = origin.commit("a proposal")
    origin.git("clone", "--quiet", "--bare", str(origin.root), str(tmp_path / "bare"))
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "__init__.py").write_text("", encoding="utf-8")
    (suite / "hot.py").write_text(BENCH, encoding="utf-8")
    monkeypatch.setattr(measuring, "SUITE", suite)
    address = "https://example.invalid/cassandra"
    found = written(
        tmp_path, figure(), figure("same", "objects", 1, 1), figure("other"),
        address=address, base=base, head=head,
    )  # fmt: skip
    change, kept = found.changes["7"], tmp_path / "kept"
    assert not measuring.measure(found, change, "python", kept, cache, tmp_path / "bare")
    document = measuring.kept(kept, "7", "python")
    verdicts = {each["name"]: judge(TIME, each) for each in document["cases"]}
    assert verdicts["hot.time_sum"].verdict in {"reproduced", "exceeded", "smaller"}
    assert verdicts["hot.time_other"].verdict == "answers differ"
    text = page.write(found, kept, tmp_path / "none")
    assert "<https://example.invalid/cassandra/pull/7>" in text
    assert "| 7 | other | description | 2 → 1 (time) | pure | different answers |" in text
    assert str(tmp_path) not in text
    samples = measuring.kept_at(kept, "7", "python")
    origin.write("cassandra/__init__.py", "this is no python")
    broken = written(tmp_path, figure(), address=address, base=base, head="0" * 40)
    why = measuring.measure(broken, broken.changes["7"], "python", kept, cache, tmp_path / "bare")
    assert "unknown commit" in why
    assert not samples.is_file()
    assert "does not build" in page.write(broken, kept, tmp_path / "none")
