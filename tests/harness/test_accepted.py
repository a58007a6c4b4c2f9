"""Accepted regressions: what an entry may say, what it covers, and when it ends."""

import datetime as dt
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from benchproof import accepted, verdict
from benchproof.errors import AcceptedError
from benchproof.gate import passed
from benchproof.gate.report import words

ROOT = Path(__file__).resolve().parents[2]
TODAY = dt.date(2026, 12, 1)
ENTRY = """\
# Why not.
[[accepted]]
benchmark = "bind.time_x"
meter = "instructions"
amount = 0.03
reason = "answers are checked now"
until = 2026-12-31
"""


def parse(text):
    return accepted.parse(text.encode(), "accepted.toml", ("cython", "python"))


def test_a_file_that_is_no_text_is_told_in_a_line():
    with pytest.raises(AcceptedError, match=r"^accepted.toml: it is not UTF-8$"):
        accepted.parse(b"# \xff\n", "accepted.toml")


def case(name="bind.time_x", impl="python", **ratios):
    """A row of a gate, with exact meters at these ratios."""
    meters = {m: verdict.judge_exact(m, 1000.0, 1000.0 * ratio) for m, ratio in ratios.items()}
    word = verdict.judge_case(meters)[0] if meters else None
    return {"name": name, "impl": impl, "status": "measured", "verdict": word, "meters": meters}


def states(entries, cases, today=TODAY, known=None):
    return [row["state"] for row in accepted.apply(entries, cases, today, known)]


def test_no_file_and_no_entry_accept_nothing():
    assert parse("") == []
    assert parse("# nothing yet\n") == []


def test_an_entry_is_read_with_its_line():
    (entry,) = parse(ENTRY)
    assert entry == accepted.Entry(
        "bind.time_x", ("instructions",), None, 0.03, "answers are checked now",
        dt.date(2026, 12, 31), 2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('benchmark = "bind.time_x"', "benchmark = 3", "3: benchmark must be the name"),
        ('meter = "instructions"', 'meter = "ticks"', "4: meter must be of wall"),
        ('meter = "instructions"', "meter = []", "4: meter must be of wall"),
        ('meter = "instructions"', "meter = 3", "4: meter must be of wall"),
        ('meter = "instructions"', "meter = [3, [4]]", "4: meter must be of wall"),
        ("amount = 0.03", "amount = 0", "5: amount must be the largest"),
        ("amount = 0.03", "amount = true", "5: amount must be"),
        ("amount = 0.03", "amount = nan", "5: amount must be"),
        ("amount = 0.03\n", "", "2: amount must be the largest"),
        ('reason = "answers are checked now"', 'reason = " "', "6: reason must be words"),
        ("until = 2026-12-31", 'until = "2026-12-31"', "7: until must be a date"),
        ("until = 2026-12-31", "until = 2026-12-31T00:00:00", "7: until must be a date"),
        ("until = 2026-12-31", 'impl = "rust"', "8: impl must be one of"),
        ("until = 2026-12-31", "untill = 2026-12-31", "7: unknown key 'untill'"),
        ("[[accepted]]", "[[acepted]]", "2: unknown 'acepted'"),
        ("[[accepted]]", "[accepted]", "in two brackets"),
        ("[[accepted]]", "accepted = 3\n[other]", "unknown 'other'"),
        ("[[accepted]]", "accepted = [3]\n[x.y]", "unknown 'x'"),
        ("[[accepted]]", "[[accepted", "2: no TOML: Expected"),
    ],
)
def test_a_broken_entry_is_an_error_with_its_line(before, after, words):
    assert before in ENTRY
    text = ENTRY.replace(before, after)
    if "rust" in after:
        text = ENTRY + after + "\n"
    with pytest.raises(AcceptedError, match=re.escape(words)) as caught:
        parse(text)
    assert str(caught.value).startswith("accepted.toml:")


def test_a_covered_regression_is_accepted_and_shown():
    entries, row = parse(ENTRY), case(instructions=1.02)
    assert states(entries, [row]) == ["used"]
    assert row["verdict"] == "regressed"
    assert row["accepted"] == {
        "reason": "answers are checked now", "until": "2026-12-31", "amount": 0.03,
    }  # fmt: skip
    assert verdict.judge_gate([row], [{"state": "used"}])["exit"] == 0


def test_a_regression_beyond_the_amount_is_not_accepted():
    entries, row = parse(ENTRY), case(instructions=1.04)
    assert states(entries, [row]) == ["exceeded"]
    assert row["accepted"] is None


def test_a_regression_of_another_meter_is_not_accepted():
    entries, row = parse(ENTRY), case(instructions=1.02, bytes=1.02)
    assert states(entries, [row]) == ["used"]
    assert row["accepted"] is None
    both = parse(ENTRY.replace('"instructions"', '["instructions", "bytes"]'))
    assert states(both, [row]) == ["used"]
    assert row["accepted"]


def test_from_nothing_to_something_is_more_than_any_amount():
    entries = parse(ENTRY.replace('"instructions"', '"allocations"'))
    row = case() | {"meters": {"allocations": verdict.judge_exact("allocations", 0, 3)}}
    assert states(entries, [row | {"verdict": "regressed"}]) == ["exceeded"]


def test_an_entry_holds_until_the_end_of_its_last_day():
    entries, row = parse(ENTRY), case(instructions=1.02)
    assert states(entries, [row], dt.date(2026, 12, 31)) == ["used"]
    assert states(entries, [row], dt.date(2027, 1, 1)) == ["expired"]
    assert row["accepted"] is None


@pytest.mark.parametrize(
    "cases",
    [
        [case("bind.time_y", instructions=1.02)],
        [case(instructions=1.0)],
        [case(instructions=0.9)],
    ],
    ids=["no such benchmark", "no longer slower", "faster"],
)
def test_an_entry_that_matches_nothing_is_an_error(cases):
    assert states(parse(ENTRY), cases) == ["unmatched"]
    assert "unmatched" in accepted.ERRORS


def test_what_this_gate_did_not_ask_is_no_error():
    entries = parse(ENTRY)
    other = case("bind.time_y", instructions=1.0)
    assert states(entries, [other], known=["bind.time_x", "bind.time_y"]) == ["not asked"]
    assert states(entries, [case(bytes=1.0)]) == ["not asked"]


def test_wall_time_that_cannot_tell_leaves_an_entry_alone():
    entries = parse(ENTRY.replace('"instructions"', '"wall"'))
    row = case() | {"meters": {"wall": {"verdict": "undecided", "low": 0.99}}}
    assert states(entries, [row]) == ["undecided"]


@pytest.mark.parametrize(
    ("ratio", "state"), [(1.0014, "unmatched"), (1.0029, "near"), (0.9971, "unmatched")]
)
def test_a_regression_at_its_limit_that_a_run_does_not_find_is_no_error(ratio, state):
    assert states(parse(ENTRY), [case(instructions=ratio)]) == [state]


def test_an_entry_of_one_implementation_covers_only_that():
    entries = parse(ENTRY + 'impl = "cython"\n')
    slow = [case(impl=impl, instructions=1.02) for impl in ("cython", "python")]
    assert states(entries, slow) == ["used"]
    assert [bool(row["accepted"]) for row in slow] == [True, False]
    assert states(entries, slow[1:]) == ["not asked"]


def test_two_entries_may_cover_the_two_meters_of_a_case():
    second = ENTRY.replace('"instructions"', '"bytes"').replace("2026-12-31", "2026-12-24")
    entries, row = parse(ENTRY + second), case(instructions=1.02, bytes=1.02)
    assert states(entries, [row]) == ["used", "used"]
    assert row["accepted"]["until"] == "2026-12-24"


# What was accepted at the pass that is the base.


#: Longer than this test is run: what reads a record knows today's date.
LASTING = ENTRY.replace("2026-12-31", "2999-12-31")


def gate(entries, *cases, today=TODAY):
    """As much of a gate's document as the record of a pass needs."""
    rows = list(cases)
    return {
        "left": {"commit": "b" * 40, "content": "y"},
        "right": {"commit": "c" * 40, "content": "x", "dirty": False}, "cases": rows, "suites": [],
        "accepted": accepted.apply(entries, rows, today), "verdict": {"exit": 0},
        "created": "2026-12-01T00:00:00+00:00", "provenance": {"cpu": "a processor"},
    }  # fmt: skip


@pytest.fixture
def base(tmp_path):
    """The entries of a record of a pass at which 2 % of at most 3 % were accepted."""
    document = gate(parse(LASTING), case(instructions=1.02))
    (entry,) = passed.record(document, tmp_path / passed.FILE).accepted
    return entry


def test_a_recorded_pass_keeps_what_was_accepted_in_view(base):
    known = accepted.with_passed(parse(LASTING), [base])
    (row,) = accepted.apply(known, [case(instructions=1.0)], TODAY)
    assert (row["state"], row["line"]) == ("in the base", 2)
    assert row["passed"] == {"python instructions": pytest.approx(1.02)}
    assert words.standing(row) == (
        "bind.time_x: python instructions +2.00\N{NO-BREAK SPACE}% of at most "
        "+3.00\N{NO-BREAK SPACE}%: answers are checked now"
    )


def test_deleting_the_line_does_not_take_it_out_of_view(base):
    (row,) = accepted.apply(accepted.with_passed([], [base]), [case(instructions=1.0)], TODAY)
    assert (row["state"], row["line"]) == ("in the base", 0)


@pytest.mark.parametrize(("more", "state"), [(1.009, "used"), (1.011, "exceeded")])
def test_what_the_base_took_is_taken_off_the_amount(base, more, state):
    known, row = accepted.with_passed(parse(LASTING), [base]), case(instructions=more)
    assert states(known, [row]) == [state]
    assert bool(row["accepted"]) is (state == "used")


def test_passes_one_after_the_other_add_up(tmp_path, base):
    file = tmp_path / passed.FILE
    known = accepted.with_passed(parse(LASTING), [base])
    (entry,) = passed.record(gate(known, case(instructions=1.005)), file).accepted
    assert entry.passed == {"python instructions": pytest.approx(1.02 * 1.005)}


def test_a_pass_against_a_base_that_was_named_forgets_nothing(tmp_path, base):
    file = tmp_path / passed.FILE
    assert passed.record(gate([], case(instructions=1.0)), file).accepted == (base,)


def test_after_its_day_it_is_gone_from_the_record_and_an_error_in_the_file(base):
    later = base.until + dt.timedelta(days=1)
    assert accepted.from_record(accepted.still(gate([base]), ()), later) == ()
    known = accepted.with_passed(parse(LASTING), [base])
    assert states(known, [case(instructions=1.0)], later) == ["expired"]


def test_this_project_has_a_file_that_loads():
    accepted.parse((ROOT / "accepted.toml").read_bytes(), "accepted.toml")


def test_the_schema_of_documents_knows_every_state():
    schema = (ROOT / "harness/benchproof/schema.json").read_text(encoding="utf-8")
    found = re.search(r'"state": {\s*"enum": (\[[^]]*\])', schema)
    assert set(json.loads(found[1])) == set(get_args(accepted.State))


@pytest.mark.parametrize(("entry", "told"), [
    ({"benchmark": "bind.time_redaing", "state": "unmatched"},
     "unmatched: no benchmark has that name; did you mean bind.time_reading?"),
    ({"benchmark": "other.time_x", "state": "unmatched"}, "unmatched: no benchmark has that name"),
    ({"benchmark": "bind.time_reading", "state": "unmatched"},
     "unmatched: nothing regressed there any more; delete it"),
    ({"benchmark": "bind.time_reading", "state": "expired", "until": "2026-11-01"},
     "expired on 2026-11-01: delete it, or give it another day"),
    ({"benchmark": "bind.time_reading", "state": "near"}, "near"),
])  # fmt: skip
def test_an_entry_that_accepts_nothing_says_what_to_do(entry, told):
    assert words.unused(entry, [{"name": "bind.time_reading"}]) == told
