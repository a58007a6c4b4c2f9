"""A gate as JUnit XML: a suite for each variant and suite of benchmarks.

==================================  ============
a case that                         becomes
==================================  ============
regressed                           a failure
is a trade-off, and those fail      a failure
regressed, which is accepted        skipped
could not be measured               an error
is not applicable, or is excluded   skipped
else                                passes
==================================  ============

A suite that has a verdict as a whole is a case of its own, `AS_A_WHOLE`, among its cases.

What a gate finds wrong without a case to pin it on (an expired acceptance, a run that was stopped)
is a case of a suite named ``benchproof``, so that the file never passes where the gate does not.
"""

from __future__ import annotations

import datetime as dt
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from benchproof.meters import SPEAKING
from benchproof.render import units
from benchproof.suite import parts

from . import words
from .markdown import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .words import Document, Row

#: One line of XML's attributes takes a longer text than a table's cell.
_LONG = 2000
_INDENT = "  "
#: The name of the case that is the whole suite.
AS_A_WHOLE = "(the suite as a whole)"


def render(document: Document) -> str:
    """The XML of a gate's document."""
    root = ET.Element("testsuites")
    for (impl, suite), rows in _suites(document).items():
        _add_suite(root, document, _class(impl, suite),
                   [*(_case(document, impl, suite, row) for row in rows),
                    *_whole(document, impl, suite)])  # fmt: skip
    odd = [*_odd(document)]
    if odd or not len(root):
        _add_suite(root, document, "benchproof", odd)
    ET.indent(root, _INDENT)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suites(document: Document) -> dict[tuple[str, str], list[Row]]:
    """Cases and exclusions by variant and suite."""
    suites: dict[tuple[str, str], list[Row]] = {}
    for row in document["cases"]:
        suites.setdefault((row["impl"], row["suite"]), []).append(row)
    for row in document["excluded"]:
        suite, name = parts(row["name"])
        gone = {"case": name.removeprefix("time_"), "status": "excluded", "why": row["why"]}
        for impl in [row["impl"]] if row["impl"] else document["impls"]:
            suites.setdefault((impl, suite or "benchproof"), []).append(gone)
    return suites


def _add_suite(root: ET.Element, document: Document, name: str, cases: list[ET.Element]) -> None:
    """A suite with its tallies, and the conditions as properties."""

    def tally(kind: str) -> str:
        return str(sum(case.find(kind) is not None for case in cases))

    when = dt.datetime.fromisoformat(document["created"]).astimezone(dt.UTC)
    suite = ET.SubElement(
        root, "testsuite",
        {
            "name": plain(name), "package": "benchproof", "id": str(len(root)),
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S"), "hostname": "localhost",
            "tests": str(len(cases)), "failures": tally("failure"), "errors": tally("error"),
            "skipped": tally("skipped"),
            "time": f"{sum(float(case.get('time', 0)) for case in cases):.9f}",
        },
    )  # fmt: skip
    properties = ET.SubElement(suite, "properties")
    about = {side: f"{commit} {subject}" for side, commit, subject in words.against(document)}
    about |= {"conditions": words.conditions(document)}
    about |= {f"error rate {n}": said for n, said in enumerate(words.error_rates(document), 1)}
    for key, value in about.items():
        ET.SubElement(properties, "property", {"name": key, "value": plain(value, _LONG)})
    suite.extend(cases)
    for stream in ("system-out", "system-err"):
        ET.SubElement(suite, stream)


def _class(impl: str, suite: str) -> str:
    """What a suite is called; without its variant where the project names none."""
    return f"{impl}.{suite}" if impl else suite


def _case(document: Document, impl: str, suite: str, row: Row) -> ET.Element:
    """A benchmark as a test."""
    wall = (row.get("meters") or {}).get("wall")
    case = _test(_class(impl, suite), row["case"], wall["right"] if wall else 0.0)
    if row["status"] in {"not applicable", "excluded"}:
        _say(case, "skipped", row["status"], row["why"])
    elif row["status"] != "measured":
        _say(case, "error", row["status"], row["why"])
    else:
        _judge(case, document, row, "; ".join(_changes(row)), "\n".join(_lines(row)))
    return case


def _whole(document: Document, impl: str, suite: str) -> Iterator[ET.Element]:
    """The suite as a whole as a test, if it has a verdict."""
    for row in document.get("suites") or ():
        if (row["impl"], row["name"]) == (impl, suite):
            case = _test(_class(impl, suite), AS_A_WHOLE, 0.0)
            _judge(case, document, row, words.whole(row))
            yield case


def _judge(case: ET.Element, document: Document, row: Row, why: str, text: str = "") -> None:
    """What a verdict makes of a test: skipped if it was accepted, else a failure if it fails."""
    if excuse := row["accepted"]:
        words_ = f"accepted until {excuse['until']}: {excuse['reason']}"
        _say(case, "skipped", "accepted", words_)
    elif words.fails(document, row):
        _say(case, "failure", row["verdict"], why, text)


def _test(suite: str, name: str, seconds: float) -> ET.Element:
    """A test that passes."""
    about = {"classname": plain(suite), "name": plain(name), "time": f"{seconds:.9f}"}
    return ET.Element("testcase", about)


def _say(case: ET.Element, kind: str, what: str, why: str, text: str = "") -> None:
    """A test that does not pass, and why."""
    ET.SubElement(case, kind, {"type": plain(what), "message": plain(why, _LONG)}).text = text


def _changes(row: Row) -> Iterator[str]:
    """The meters that regressed, in words; of a trade-off, what improved too."""
    shown = {"regressed", "improved"} if row["verdict"] == "trade-off" else {"regressed"}
    for meter in SPEAKING:
        about = row["meters"].get(meter)
        if about and about["verdict"] in shown:
            yield (f"{words.label(meter)} {units.change(about['ratio'])} "
                   f"({words.values(meter, about)})")  # fmt: skip


def _lines(row: Row) -> Iterator[str]:
    """Where the instructions of a case went."""
    for unit, changes in words.by_unit(row.get("profile") or []).items():
        yield f"{words.PROFILES[unit]}:"
        for each in changes:
            change = words.profile_unit(unit, each["change"])
            yield plain(f"{change} {each['function']} ({each['file']})", _LONG)


def _odd(document: Document) -> Iterator[ET.Element]:
    """What is wrong with the gate itself."""
    for entry in document["accepted"]:
        if entry["state"] in {"expired", "unmatched"}:
            case = _test("benchproof.accepted", entry["benchmark"], 0.0)
            why = f"accepted until {entry['until']}: {entry['reason']}"
            _say(case, "error", entry["state"], why)
            yield case
    for line in words.troubles(document):
        case = _test("benchproof.gate", line, 0.0)
        _say(case, "error", "trouble", line)
        yield case
    if document["partial"] or (not document["cases"] and document["verdict"]["exit"]):
        case = _test("benchproof.gate", "finished", 0.0)
        _say(case, "error", document["verdict"]["status"], document["verdict"]["summary"])
        yield case
