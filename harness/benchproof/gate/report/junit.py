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

import datetime as dt
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from benchproof.render import units
from benchproof.suite import parts

from . import words
from .markdown import plain
from .words import Document, Row

#: One line of XML's attributes takes a longer text than a table's cell.
_LONG = 2000
_INDENT = "  "
#: The name of the case that is the whole suite.
AS_A_WHOLE = "(the suite as a whole)"


def render(document: Document) -> str:
    """The XML of a gate's document."""
    suites: dict[str, list[ET.Element]] = {}
    for row in document["cases"]:
        suites.setdefault(_class(row["impl"], row["suite"]), []).append(_case(document, row))
    for row in document["excluded"]:
        suite, name = parts(row["name"])
        for impl in [row["impl"]] if row["impl"] else document["impls"]:
            of = _class(impl, suite or "benchproof")
            gone = _test(of, name.removeprefix("time_"), ("skipped", "excluded", row["why"]))
            suites.setdefault(of, []).append(gone)
    for row in words.wholes(document).values():
        if (of := _class(row["impl"], row["name"])) in suites:
            suites[of].append(_test(of, AS_A_WHOLE, _judged(document, row, words.whole(row))))
    if (odd := [*_odd(document)]) or not suites:
        suites["benchproof"] = [*suites.get("benchproof", ()), *odd]
    root = ET.Element("testsuites")
    for number, (name, cases) in enumerate(suites.items()):
        root.append(_suite(document, number, name, cases))
    ET.indent(root, _INDENT)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _class(impl: str, suite: str) -> str:
    """What a suite is called; without its variant where the project names none."""
    return f"{impl}.{suite}" if impl else suite


def _suite(document: Document, number: int, name: str, cases: list[ET.Element]) -> ET.Element:
    """A suite with its tallies, and the conditions as properties."""
    when = dt.datetime.fromisoformat(document["created"]).astimezone(dt.UTC)
    tallies = {
        title: str(sum(case.find(kind) is not None for case in cases))
        for title, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    suite = ET.Element("testsuite", {
        "name": plain(name), "package": "benchproof", "id": str(number),
        "timestamp": when.strftime("%Y-%m-%dT%H:%M:%S"), "hostname": "localhost",
        "tests": str(len(cases)), **tallies,
        "time": f"{sum(float(case.attrib['time']) for case in cases):.9f}",
    })  # fmt: skip
    properties = ET.SubElement(suite, "properties")
    about = {side: f"{commit} {subject}" for side, commit, subject in words.against(document)}
    about |= {"conditions": words.conditions(document)}
    about |= {f"error rate {n}": said for n, said in enumerate(words.error_rates(document), 1)}
    for key, value in about.items():
        ET.SubElement(properties, "property", {"name": key, "value": plain(value, _LONG)})
    suite.extend(cases)
    for stream in ("system-out", "system-err"):
        ET.SubElement(suite, stream)
    return suite


def _test(
    suite: str, name: str, found: tuple[str, str, str] | None, *, seconds: float = 0.0,
    text: str = "",
) -> ET.Element:  # fmt: skip
    """A benchmark as a test.

    Args:
        suite: the class of the test.
        name: its name.
        found: why it does not pass: ``failure``, ``error`` or ``skipped``, its type, a message.
        seconds: of a call.
        text: more than the message.
    """
    about = {"classname": plain(suite), "name": plain(name), "time": f"{seconds:.9f}"}
    case = ET.Element("testcase", about)
    if found:
        kind, what, why = found
        inner = ET.SubElement(case, kind, {"type": plain(what), "message": plain(why, _LONG)})
        inner.text = text
    return case


def _case(document: Document, row: Row) -> ET.Element:
    """A benchmark as a test."""
    seconds = row["meters"]["wall"]["right"] if "wall" in row["meters"] else 0.0
    status, found, text = row["status"], None, ""
    if status != "measured":
        found = "skipped" if status == "not applicable" else "error", status, row["why"]
    elif found := _judged(document, row, "; ".join(_changes(row))):
        text = "\n".join(_lines(row)) if found[0] == "failure" else ""
    return _test(_class(row["impl"], row["suite"]), row["case"], found, seconds=seconds, text=text)


def _judged(document: Document, row: Row, why: str) -> tuple[str, str, str] | None:
    """What a verdict makes of a test: skipped if it was accepted, else a failure if it fails."""
    if row["accepted"]:
        return "skipped", "accepted", words.excuse(row["accepted"])
    return ("failure", row["verdict"], why) if words.fails(document, row) else None


def _changes(row: Row) -> Iterator[str]:
    """The meters that regressed, in words; of a trade-off, what improved too."""
    shown = {"regressed", "improved"} if row["verdict"] == "trade-off" else {"regressed"}
    for meter in words.shown_meters([row]):
        about = row["meters"][meter]
        if about["verdict"] in shown:
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
            found = "error", entry["state"], words.excuse(entry)
            yield _test("benchproof.accepted", entry["benchmark"], found)
    for line in words.troubles(document):
        yield _test("benchproof.gate", line, ("error", "trouble", line))
    verdict = document["verdict"]
    if document["partial"] or (not document["cases"] and verdict["exit"]):
        found = "error", verdict["status"], verdict["summary"]
        yield _test("benchproof.gate", "finished", found)
