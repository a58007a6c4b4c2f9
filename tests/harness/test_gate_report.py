"""A gate told as Markdown, JUnit XML and a terminal's table; and the schema of its document."""

import copy
import io
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from benchproof import families, files, table, verdict
from benchproof.compare import Request, compare
from benchproof.gate.report import junit, markdown, words
from benchproof.render import units
from tests.harness.sample_gate import PROFILE, case, judged, make_gate

HERE = Path(__file__).resolve().parent
SCHEMA = json.loads(
    (HERE.parents[1] / "harness" / "benchproof" / "schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
XSD = xmlschema.XMLSchema(HERE / "junit.xsd")
#: What a pull request might call something, or raise.
NASTY = [
    "@everyone look", "</details><script>alert(1)</script>", "a|b|c", "`x` **bold** [l](http://e.x)",
    "line\none\r\ntwo", "\x1b[31mred\x00", "\u202egnp.exe", "![i](https://e.x/i.png)",
    "x" * 5000, "<!-- benchproof gate -->", "https://evil.example", "#1 GH-2 fixes #3", "",
]  # fmt: skip


def quiet():
    return make_gate({}, unmeasured=False, accepted=False, excluded=False)


def everywhere(document, text):
    """A document in which a text stands wherever a run may put one."""
    for row in document["cases"]:
        row |= {"why": text, "note": text, "case": text, "name": f"{row['suite']}.{text}"}
        row["pretty_name"] = text
        for change in row["profile"] or ():
            change |= {"function": text, "file": text}
        if row["accepted"]:
            row["accepted"] |= {"reason": text}
    for side in ("base", "head"):
        document[side] |= {"subject": text, "commit": text}
    for row in document["excluded"]:
        row |= {"name": text, "why": text}
    for row in document["accepted"]:
        row |= {"benchmark": text, "reason": text}
    document["provenance"] |= {"cpu": text, "kernel": text}
    document["trouble"] = [{"impl": None, "why": text}]
    document["verdict"]["summary"] = text
    return document


def terminal(document, width=80):
    out = io.StringIO()
    table.show(document, Console(file=out, width=width))
    return out.getvalue()


# -- the document ---------------------------------------------------------------------------------


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("document", [make_gate(), quiet()], ids=["everything", "quiet"])
def test_the_sample_fits_the_schema(document):
    VALIDATOR.validate(json.loads(json.dumps(document)))


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.update(schema=4),
        lambda d: d.update(kind="comparison"),
        lambda d: d.pop("excluded"),
        lambda d: d["cases"][0].update(verdict="fine"),
        lambda d: d["cases"][0].update(status="error"),
        lambda d: d["cases"][0].pop("impl"),
        lambda d: d["cases"][0]["meters"].update(joules={}),
        lambda d: d["cases"][0]["meters"]["wall"].update(ratio="1.0"),
        lambda d: d["verdict"].update(exit=4),
        lambda d: d["accepted"][0].update(until="soon"),
        lambda d: d["error_rates"]["false_alarm"].update(rate=1.5),
        lambda d: d["provenance"].pop("packages"),
    ],
)
def test_the_schema_refuses_what_is_no_gate(damage):
    document = make_gate()
    damage(document)
    assert not VALIDATOR.is_valid(document)


@pytest.mark.slow
def test_a_real_gate_fits_the_schema_and_is_told_in_every_form(toy, place, tell):
    toy.edit("driver/work.py", "range(number)", "range(number + 1)")
    toy.edit("driver/work.py", "total = 0", "total, waste = 0, [bytearray(50), bytearray(60)]")
    toy.commit("one box more, and some waste")
    meters = ("allocations", "bytes")
    document = compare(
        Request("HEAD~1", "HEAD", meters=meters, impls=("python",), profile=True, gate=True),
        place,
        tell,
    ).document
    document = json.loads(json.dumps(document))
    VALIDATOR.validate(document)
    rows = {row["case"]: row for row in document["cases"]}
    assert {name: row["status"] for name, row in rows.items()} == {
        "boxes": "different answers", "spin": "measured", "newer": "not applicable",
    }  # fmt: skip
    assert rows["spin"]["verdict"] == "regressed"
    assert "spin" in {each["function"] for each in rows["spin"]["profile"]}
    XSD.validate(junit.render(document))
    for text in (markdown.render(document), terminal(document), junit.render(document)):
        assert "different answers" in text
        assert "driver/work.py" in text


def paid_for(setting="pass"):
    """A gate with a trade-off, and a suite in which each case is a little dearer."""
    document = quiet()
    document["settings"] |= {"trade_off": setting}
    for row in document["cases"]:
        if (row["suite"], row["impl"]) == ("decode_rows", "python"):
            row["meters"]["instructions"] = verdict.judge_exact("instructions", 9000.0, 9018.0)
    row = next(row for row in document["cases"] if row["name"] == "routing_key.time_single_int")
    row["meters"] = {"instructions": verdict.judge_exact("instructions", 9000.0, 4770.0),
                     "bytes": verdict.judge_exact("bytes", 1000.0, 1102.0)}  # fmt: skip
    row["verdict"], row["note"] = verdict.judge_case(row["meters"])
    document["suites"] = families.judge(document["cases"])
    document["verdict"] = verdict.judge_gate(
        document["cases"], (), document["suites"], trade_off=setting
    )
    return document


@pytest.mark.parametrize("setting", ["pass", "fail"])
def test_trade_offs_and_suites_are_told_in_every_form(setting):
    document = json.loads(json.dumps(paid_for(setting)))
    VALIDATOR.validate(document)
    XSD.validate(junit.render(document))
    forms = [terminal(document), markdown.render(document)]
    for text in (" ".join(form.replace("\xa0", " ").split()) for form in forms):
        assert "trade-off" in text
        assert "-47.0 %" in text
        assert "+10.2 %" in text
        assert "instructions +0.20 % (15 of 15 cases went up)" in text
    failed = {each.get("classname"): each.find("failure") for suite in suites(document).values()
              for each in suite.iter("testcase") if each.find("failure") is not None}  # fmt: skip
    whole = failed.pop("python.decode_rows")
    assert whole.get("message").startswith("instructions +0.20")
    types = {each.get("type") for each in failed.values()}
    assert types == ({"trade-off"} if setting == "fail" else set())
    assert document["verdict"]["exit"] == 1


def test_a_suite_that_was_accepted_does_not_fail_and_says_why():
    document = paid_for()
    whole = next(each for each in document["suites"] if each["verdict"] == "regressed")
    whole["accepted"] = {"reason": "a check", "until": "2031-01-01", "amount": 0.003}
    found = verdict.judge_gate(document["cases"], (), document["suites"])
    assert found["exit"] == 0
    assert "1 regressed (1 accepted)" in found["summary"]
    assert "a check" in terminal(document)
    (skipped,) = suites(document)["python.decode_rows"].iter("skipped")
    assert skipped.get("message") == "accepted until 2031-01-01: a check"


def test_a_document_of_the_first_schema_is_still_told():
    old = make_gate() | {"schema": 1}
    del old["suites"]
    VALIDATOR.validate(json.loads(json.dumps(old)))
    XSD.validate(junit.render(old))
    assert "regression" in terminal(old)
    assert "regression" in markdown.render(old)


# -- Markdown -------------------------------------------------------------------------------------


def test_the_comment_begins_with_its_mark_and_then_the_verdict():
    lines = markdown.render(make_gate()).splitlines()
    assert lines[0] == markdown.MARK
    assert lines[1].endswith("benchproof: regression")
    assert "102 benchmarks: 4 regressed" in lines[3]


def moved_lines(text):
    """The table of what moved: by name and implementation, its cells."""
    table = text.partition("### What moved")[2].partition("\n- ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if "`" in line]
    return {cells[1].replace("`", ""): [cell.split("<br>") for cell in cells] for cells in rows}


def test_what_moved_is_told_with_amount_meter_interval_and_confidence():
    moved = moved_lines(markdown.render(make_gate()))
    cells = moved["decode_rows.time_mixed_one_row cython"]
    assert cells[0] == ["\N{BLACK UP-POINTING TRIANGLE} regressed"]
    assert cells[2:6] == [
        ["instructions", "wall time"],
        ["**+3.12\xa0%**", "**+2.95\xa0%**"],
        ["+3.08\xa0% to +3.16\xa0%", "+2.13\xa0% to +3.77\xa0%"],
        ["75\xa0%, 3 layouts", "99\xa0%"],
    ]
    assert moved["result_dispatch.time_void python"][3] == ["**from 0**"]


def test_what_a_project_calls_a_benchmark_is_shown_and_its_name_stays_its_identity():
    document = make_gate()
    for row in document["cases"]:
        row["pretty_name"] = "One row | all types" if row["case"] == "mixed_one_row" else ""
    VALIDATOR.validate(json.loads(json.dumps(document)))
    text = markdown.render(document)
    assert "`decode_rows.time_mixed_one_row` `One row \N{BROKEN BAR} all types` `cython`" in text
    assert '"One row | all types" [cython]' in " ".join(terminal(document, 120).split())
    everything = io.StringIO()
    table.show(document, Console(file=everything, width=120), everything=True)
    assert ' mixed_one_row "One row | all types"' in everything.getvalue()
    assert "One row" not in junit.render(document)


def test_open_regressions_come_first_then_accepted_ones_then_improvements():
    moved = moved_lines(markdown.render(make_gate()))
    kinds = [cells[0][0].partition(" ")[2] for cells in moved.values()]
    assert kinds == [*["regressed"] * 3, "accepted", "improved"]
    assert next(iter(moved)) == "result_dispatch.time_void python"  # from nothing: the largest


def test_a_case_that_regressed_in_one_meter_and_improved_in_another_regressed():
    document = make_gate({("python", "bind.time_vector_128"): 1.05})
    row = next(row for row in document["cases"] if row["name"] == "bind.time_vector_128"
               and row["impl"] == "python")  # fmt: skip
    row["meters"]["bytes"] |= {"ratio": 0.5, "low": 0.5, "high": 0.5, "verdict": "improved"}
    cells = moved_lines(markdown.render(document))["bind.time_vector_128 python"]
    assert cells[0][0].endswith("regressed")
    assert cells[2] == ["instructions", "bytes allocated", "wall time"]
    assert cells[3][1] == "-50.0\xa0%"


def test_each_regression_says_where_its_instructions_went():
    text = markdown.render(make_gate())
    part = text.partition("### Where the instructions went")[2]
    assert part.count("<details") - 2 == part.count("`ProtocolHandler.encode_message`") == 2
    assert "| `_PyEval_EvalFrameDefault` `libpython3.11.so` | +420 | 1,800 | 2,220 |" in part
    assert "C functions, instructions a call" in part
    assert "Python functions, bytecodes a call" in part


def test_rates_of_error_stand_beside_the_verdict_or_are_said_to_be_unknown():
    assert "False alarms: in 0.45 % (0.01 to 2.5 %, 220 tried)" in markdown.render(make_gate())
    assert "Slow-downs found by instructions: 0.5 % in 98 %" in markdown.render(make_gate())
    assert "Calibrated on AMD EPYC 9R14, 2026-02-20 to 2026-02-27." in markdown.render(make_gate())
    assert "other rules" not in markdown.render(make_gate())
    unknown = make_gate() | {"error_rates": None}
    # A project of somebody else has no page of this one to look it up in.
    assert "has not been measured here." in markdown.render(unknown)


def test_rates_that_were_measured_under_other_rules_say_so():
    document = make_gate()
    document["error_rates"]["conditions"]["other_rules"] = ["12ab"]
    assert "calibrated under other rules than those in force" in markdown.render(document)


def test_what_is_accepted_excluded_unmeasured_or_went_wrong_is_named():
    document = make_gate() | {"trouble": [{"impl": "python", "why": "it does not build:\n  line"}]}
    text = markdown.render(document)
    assert "| `result_dispatch.time_rows` | `python` | `instructions` | +3.00\xa0% |" in text
    assert "- `bind.time_old_name` `cython`: `the base has it" in text
    assert "- `bind.time_vector_128` `cython`: `error` `right: ZeroDivisionError" in text
    assert "- `python: it does not build:`\n- `python: line`" in text


def test_a_quiet_gate_is_short_and_folds_the_rest():
    text = markdown.render(quiet())
    assert "no regression" in text.splitlines()[1]
    assert "Nothing moved beyond its limit." in text
    assert "### " not in text
    assert text.count("<details>") == text.count("</details>") == 2


def test_the_conditions_are_the_last_line():
    last = markdown.render(make_gate()).rstrip().splitlines()[-1]
    assert last.startswith("Measured 2026-03-02T09:14:05+00:00: ")
    assert "AMD EPYC 9R14, 2 cores" in last


@pytest.mark.parametrize("many", [0, 400, 5000])
def test_the_comment_is_never_too_long_and_never_loses_the_verdict(many):
    document = make_gate()
    document["cases"] += [case("python", "bind", f"{'x' * 100}{n}", 1.5) for n in range(many)]
    document["excluded"] *= 1 + many
    document["trouble"] = [{"impl": None, "why": "y" * 500}] * many
    text = markdown.render(judged(document))
    assert len(text) < 60_000
    assert "benchproof: regression" in text
    assert text.count("<details") == text.count("</details>")
    assert ("more of" in text) == bool(many)


@given(st.integers(2500, 20_000))
def test_a_tighter_limit_holds_too(limit):
    assert len(markdown.render(make_gate(), limit)) <= limit


@pytest.mark.parametrize("text", NASTY)
def test_no_text_of_a_run_becomes_markup(text):
    rendered = markdown.render(everywhere(make_gate(), text))
    outside = re.sub(r"`[^`\n]*`", "", rendered)
    outside = re.sub(r"<code>[^<]*</code>", "", outside)
    assert not re.search(r"@|http|<script|\[|!\[|\*\*bold|#\d", outside)
    assert outside.count("<details") == outside.count("</details>")
    assert outside.count(markdown.MARK) == 1
    assert "\u202e" not in rendered
    assert "\x1b" not in rendered
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} <= {6, 7, 8, 9}


@given(st.text(max_size=300))
def test_code_holds_any_text_on_one_line(text):
    shown = markdown.code(text)
    assert re.fullmatch(r"(`[^`|\n]+`)?", shown)
    assert len(shown) <= markdown.LONGEST + 2


@given(st.text("ab_*`@<>|[]():/.#~- w", max_size=60))
def test_prose_is_harmless_or_code(text):
    shown = markdown.prose(text)
    assert shown == markdown.code(text) or not re.search(r"[_*`@<>|\[\]#~]|:/|www\.", shown)


# -- JUnit ----------------------------------------------------------------------------------------


def suites(document):
    return {suite.get("name"): suite for suite in ET.fromstring(junit.render(document))}  # noqa: S314  (ours)


@pytest.mark.parametrize(
    "document",
    [
        make_gate(),
        quiet(),
        make_gate() | {"partial": True},
        quiet() | {"cases": [], "trouble": [{"impl": None, "why": "no\nbuild"}]},
        *(everywhere(make_gate(), text or "nothing") for text in NASTY),
    ],
)
def test_the_xml_has_the_structure_that_ci_systems_read(document):
    XSD.validate(junit.render(document))


def test_every_case_becomes_what_its_verdict_says():
    found = suites(make_gate())
    (regressed,) = found["cython.decode_rows"].iter("failure")
    assert regressed.get("message").startswith("instructions +3.12")
    assert "+1,110 driver._cython.wire.rows.parse_rows" in regressed.text
    (error,) = found["cython.bind"].iter("error")
    assert error.get("message") == "right: ZeroDivisionError: (bind.py:41)"
    assert [s.get("type") for s in found["cython.bind"].iter("skipped")] == ["excluded"]
    assert [s.get("type") for s in found["python.bind"].iter("skipped")] == ["not applicable"]
    assert [s.get("message") for s in found["python.result_dispatch"].iter("skipped")] == [
        "accepted until 2026-12-31: payloads are checked now"
    ]


def test_the_tallies_are_those_of_the_cases():
    for suite in suites(make_gate()).values():
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        for key, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(key)) == sum(each.find(kind) is not None for each in cases)


def test_the_xml_passes_only_where_the_gate_does():
    def passes(document):
        root = ET.fromstring(junit.render(document))  # noqa: S314  (ours)
        return not list(root.iter("failure")) and not list(root.iter("error"))

    assert passes(quiet())
    expired = quiet()
    expired["accepted"] = [make_gate()["accepted"][0] | {"state": "expired"}]
    verdict = {"status": "could not measure", "exit": 2, "summary": "nothing was measured"}
    for document in (
        make_gate(), expired, quiet() | {"partial": True},
        quiet() | {"cases": [], "verdict": verdict},
        quiet() | {"trouble": [{"impl": "cython", "why": "killed"}], "verdict": verdict},
    ):  # fmt: skip
        assert not passes(document)


# -- a terminal -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 120])
def test_a_terminal_shows_the_verdict_last_and_nothing_wider_than_itself(width):
    lines = terminal(make_gate(), width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.rindex("regression: 102 benchmarks") > text.rindex("False alarms")
    for words_ in ("moved", "spends more in", "accepted until 2026-12-31", "excluded", "error"):
        assert words_ in text


def test_a_terminal_says_what_went_wrong():
    document = quiet() | {"trouble": [{"impl": "python", "why": "a worker was killed"}],
                          "partial": True}  # fmt: skip
    text = terminal(document)
    assert "python: a worker was killed" in text
    assert "PARTIAL" in text


def test_markup_of_a_run_is_not_the_terminal_s():
    assert "[red]x[/red]" in terminal(everywhere(make_gate(), "[red]x[/red]"), 200)


# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        (1.0, "="), (1.0312, "+3.12\xa0%"), (0.88, "-12.0\xa0%"), (1.000001, "+0.00\xa0%"),
        (2.5, "\N{MULTIPLICATION SIGN}2.50"), (None, "from 0"), (0.0, "to 0"),
        (0.06, "-94.0\xa0%"), (0.90004, "-10.0\xa0%"), (0.0001, "\N{DIVISION SIGN}10,000"),
        (2000.0, "\N{MULTIPLICATION SIGN}2,000"),
    ],
)  # fmt: skip
def test_a_ratio_is_told_as_a_change(ratio, told):
    assert units.change(ratio) == told


def test_the_worst_regression_is_explained_first():
    document = make_gate({("python", f"bind.time_vector_{n}"): r for n, r in (
        (128, 1.05), (768, 1.6), (1536, 1.2))}, unmeasured=False, accepted=False)  # fmt: skip
    assert [row["case"] for row in words.explained(document)] == [
        "vector_768", "vector_1536", "vector_128",
    ]  # fmt: skip


def test_a_case_without_rows_is_not_explained():
    document = quiet()
    document["cases"][0]["profile"] = []
    document["cases"][1]["profile"] = copy.deepcopy(PROFILE)
    assert words.explained(document) == [document["cases"][1]]


def test_telling_needs_nothing_but_the_standard_library():
    program = (
        "import sys, benchproof.gate.report.comment as _\n"
        "known = set(sys.stdlib_module_names) | {'benchproof', '__main__'}\n"
        "print({name.partition('.')[0] for name in sys.modules} - known)"
    )
    answer = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=HERE.parents[1] / "harness",
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert answer.stdout.strip() == "set()"


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "deep" / "gate.md"
    files.write("first", file)
    with pytest.raises(UnicodeEncodeError):
        files.write("second \ud800", file)
    assert file.read_text() == "first"
    assert [each.name for each in file.parent.iterdir()] == ["gate.md"]
