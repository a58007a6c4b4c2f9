"""The rates in words and tables: calibration.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibration.rates import rate, told
from calibration.stalls import STALLS
from calibration.summary import found_by_meter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: What each other tool is called.
NAMES = {"bare": "bare instruction count", "asv": "`asv continuous`",
         "pyperf": "`pyperf compare_to`"}  # fmt: skip
NAMES_OF_GATES = {"same": "the same wheel",
                  "neutral": "another wheel: comment, unused function, rename"}  # fmt: skip
BESIDE = """\
On the same wheels: the injected commits, commits without a change, and neutral ones. A gate of the
others is eight benchmarks (two for pyperf). A gate of ours in which nothing changed is all of them,
in both implementations, so that it has many more occasions for a false alarm. Rates of different
rules of ours have lines of their own.
"""
IN_A_GATE = """\
What the default budget buys for all suites in both implementations, of which those that are not
slowed down are of one build, and the error budget shared by all of their tests. *The case* is what
a gate says of a case in which no exact meter sees the change: it counts only with its whole
interval beyond 5 %.
"""
ALONE = """\
As many blocks as five minutes buy for the one suite, and the error budget shared by its tests only.
"""
INJECTED = """\
Sizes are shares of instructions, which take more or less time than the others of their benchmark.
*As measured* is what the same gate saw. *The case* is what the clock says where gates asked for no
other meter, so the same as *found*.
"""
SIMULATED = """\
Gates of one build against itself, on recorded blocks, in which one case in twenty has its right
side's numbers made larger by the size. A build that is slower has its code elsewhere, too, which no
number that was made larger has.
"""
STALLED = """\
Whole gates of the compiled driver whose two sides hold the same stalls, asleep in one and awake in
the other, so that their instructions are equal. *The case* counts only if the whole interval of its
wall time is beyond 5 %, in a second build, too. Sizes are predicted from what a stall costs in a
loop of its own.
"""
OCCASIONS = """\
Intervals take gates for independent. Gates of one occasion (one machine, and never two hours
without a gate) may be wrong together; the last column takes each occasion for a single trial.
"""
UNDECIDED = """\
A verdict that is undecided cannot be a false alarm: these rates of wall time are of the verdicts
that were decided, so of few, or of none. No interval stands beside them, because the tests of a
gate share its machine, its minutes and its builds, and are not independent.
"""
RESAMPLED = "wall, resampled"
HEAD = """\
# How often the gate is wrong

Measured by `scripts/calibrate` (docs/calibration.md says how), written by it, not by hand.
Intervals are Clopper and Pearson's, 95 %.
"""


def markdown(summary: Mapping[str, Any], picture: str) -> str:
    """The whole document."""
    parts = [HEAD, *_conditions(summary["conditions"])]
    if any(found_by_meter(summary).values()):
        parts.append(f"![Slow-downs found, by size]({picture})\n")
    parts += _false_alarms(summary)
    named = {part: _named(rules) for part, rules in summary["rules"].items()}
    for title, conditions, part, sizes in (
        ("instructions", "", "instructions", summary["detection"]["instructions"]),
        ("wall time, in whole gates", INJECTED, "wall", summary["detection"]["wall"]),
        ("wall time, resampled in a gate of all suites", IN_A_GATE, "resampled",
         summary["resampled_wall"]),
        ("wall time, simulated", SIMULATED, "resampled", summary["simulated"]),
        ("wall time, one suite alone", ALONE, "resampled", summary["wall_of_one_suite"]),
    ):  # fmt: skip
        gates = _gates_of(summary["slowed"].get(part))
        parts += _detection(title, f"{conditions}{gates}By the rules {named[part]}.\n", sizes)
    parts += _stalls(summary["stalls"])
    parts += _others(summary)
    parts += _missed(summary)
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] * len(head))}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def percent(size: str) -> str:
    """A size as it is said."""
    return f"{float(size) * 100:g} %"


def _gates_of(about: Mapping[str, int] | None) -> str:
    """How many gates there were, and of how many cases each."""
    if not about:
        return ""
    least, most = about["least"], about["most"]
    cases = f"{least}" if least == most else f"{least} to {most}"
    return f"{about['gates']} gates of {cases} cases each.\n"


def _named(rules: Sequence[str]) -> str:
    """A set of rules by its hash."""
    return ", ".join(f"`{each}`" for each in rules)


def _conditions(about: Mapping[str, Any]) -> list[str]:
    """Where and when."""
    if not about["machines"]:
        return ["Nothing has been measured yet.\n"]
    lines = [
        "- " + ", ".join(f"{key} {value}" for key, value in machine.items())
        for machine in about["machines"]
    ]
    when = "" if about["from"] is None else f"From {about['from']} to {about['to']}, on:\n"
    if about["other_rules"]:
        lines.append(
            f"\n**Part of this was measured under other rules** ({', '.join(about['other_rules'])})"
            ": the harness has changed since, so run the campaign again before you rely on it. Each"
            " section says whose rates it has."
        )
    return [when, *lines, ""]


def _false_alarms(summary: Mapping[str, Any]) -> list[str]:
    """What was called a change where nothing had changed."""
    rows = []
    for kind, gates in summary["gates"].items():
        if gates:
            alarms = gates["alarms"]
            rows.append([
                f"real gates, {NAMES_OF_GATES[kind]}", str(gates["gates"]), str(gates["tests"]),
                *(told(alarms[group]) for group in ("exact meters", "wall time", "all meters")),
                told(gates["failed"]), told(gates["occasions"]),
            ])  # fmt: skip
    again = summary["resampled"]
    if again:
        whole = f"{again['alarmed']} of {again['gates']}; of disjoint runs of blocks {told(again)}"
        rows.append([
            "resampled from recorded processes", str(again["gates"]), str(again["tests"]),
            "-", whole, "-", "-", "-",
        ])  # fmt: skip
    parts = ["## False alarms\n"]
    rules = [
        f"{what} {_named(summary['rules'][part])}"
        for what, part in (("real gates by the rules", "gates"), ("resampled ones by", "resampled"))
        if summary["rules"][part]
    ]
    if rows:
        said = "; ".join(rules)
        parts.append(f"{said[0].upper()}{said[1:]}.\n")
        parts += ["Gates that called anything at all regressed or improved:\n", table(
            ("gates", "number", "tests", "exact meters", "wall time", "any meter", "exit 1",
             "occasions with an alarm"), rows,
        ), OCCASIONS, *_decided(summary), UNDECIDED]  # fmt: skip
    else:
        parts.append("Not measured.\n")
    wheel = summary["same_wheel"]
    if wheel:
        lines = [
            f"{about['identical']} of {about['tests']} {meter} identical, {about['alarms']} alarms"
            for meter, about in wheel["meters"].items()
        ]
        parts.append(f"Exact meters on the same wheel, both sides: {'; '.join(lines)}.\n")
    return parts


def _decided(summary: Mapping[str, Any]) -> list[str]:
    """By kind of gate and meter, how many tests said something."""
    by_gates = {
        f"real gates, {NAMES_OF_GATES[kind]}": gates["decided"]
        for kind, gates in summary["gates"].items() if gates
    }  # fmt: skip
    again = summary["resampled"]
    if again:
        wall = {"tests": again["tests"], "decided": again["tests"] - again["undecided"]}
        by_gates["resampled from recorded processes"] = {"wall": wall}
    meters = list(dict.fromkeys(meter for about in by_gates.values() for meter in about))
    rows = [
        [name, *(f"{about[meter]['decided']} of {about[meter]['tests']}" if meter in about else "-"
                 for meter in meters)]
        for name, about in by_gates.items()
    ]  # fmt: skip
    return ["Tests that were decided, so could have been wrong:\n", table(("gates", *meters), rows)]


def _stalls(sizes: Mapping[str, Any]) -> list[str]:
    """What only the clock sees, by kind."""
    parts = ["## Slow-downs found: stalls that only the clock sees\n"]
    if not sizes:
        return [*parts, "Not measured.\n"]
    kinds = list(next(iter(sizes.values()))["by_stall"])
    head = ("size", "the case", *(f"the case, {STALLS[kind]}" for kind in kinds), "by wall time",
            "wall time undecided", "as the gate measured it")  # fmt: skip
    rows = [
        [percent(size), told(about["case"]), *(told(about["by_stall"][kind]) for kind in kinds),
         told(about), str(about["said"]["undecided"]), _spread(about["achieved"])]
        for size, about in sizes.items()
    ]  # fmt: skip
    return [*parts, STALLED, table(head, rows)]


def _detection(title: str, conditions: str, sizes: Mapping[str, Any]) -> list[str]:
    """How many slow-downs one meter finds, of all that were injected."""
    parts = [f"## Slow-downs found: {title}\n"]
    if not sizes:
        return [*parts, "Not measured.\n"]
    parts.append(conditions)
    words = list(next(iter(sizes.values()))["said"])
    rows = []
    alone, timed = (any(each[key] for each in sizes.values()) for key in ("case", "blocks"))
    for size, about in sizes.items():
        achieved = about["achieved"]
        rows.append([
            percent(size), told(about), *([told(about["case"])] * alone),
            *([str(about["blocks"])] * timed), told(about["reached"]),
            *(str(about["said"][word]) for word in words if word != "found"),
            _spread(achieved),
            ", ".join(f"{impl} {told(rate)}" for impl, rate in about["by_impl"].items()),
        ])  # fmt: skip
    head = ("size", "found", *(["the case"] * alone), *(["blocks"] * timed),
            "found of those that came out so",
            *(word for word in words if word != "found"), "as measured",
            "by implementation")  # fmt: skip
    return [*parts, table(head, rows)]


def _spread(about: Mapping[str, float]) -> str:
    low, median, high = (f"{about[key] * 100:.2f}" for key in ("low", "median", "high"))
    return f"{median} % ({low} to {high})"


def _others(summary: Mapping[str, Any]) -> list[str]:
    """The gate and other tools in one table."""
    parts = ["## Beside other tools\n"]
    if not summary["others"]:
        return [*parts, "Not measured.\n"]
    sizes = sorted(
        {size for row in summary["others"] for size in row["detection"]}
        | set(summary["detection"]["instructions"]), key=float,
    )  # fmt: skip
    rows = [*_own(summary, "instructions", sizes), *_own(summary, "wall", sizes)]
    rows += [
        [
            NAMES[row["tool"]], row["rule"], told(row["false_alarms"]), told(row["false_gates"]),
            *(told(row["detection"].get(size)) for size in sizes), f"{row['seconds']:g} s", "",
        ]
        for row in summary["others"]
    ]  # fmt: skip
    head = ("tool", "rule", "false alarms, a benchmark", "false alarms, a gate",
            *(f"found of {percent(size)}" for size in sizes), "time a benchmark",
            "rules of ours")  # fmt: skip
    settings = {row["tool"]: row["settings"] for row in summary["others"]}
    return [
        *parts,
        BESIDE,
        table(head, rows),
        *(f"- {NAMES[tool]}: {words}" for tool, words in settings.items()), "",
    ]  # fmt: skip


def _own(summary: Mapping[str, Any], meter: str, sizes: Sequence[str]) -> list[list[str]]:
    """The gate's rows of the table: one for each set of rules that a rate of it is of."""
    group = "wall time" if meter == "wall" else "exact meters"
    real = [each for each in summary["gates"].values() if each and each["alarms"][group]]
    said: dict[str, list[str]] = {}

    def row(part: str) -> list[str]:
        return said.setdefault(_named(summary["rules"][part]), ["-"] * (2 + len(sizes)))

    k, n = (sum(each["alarms"][group][key] for each in real) for key in ("k", "n"))
    pooled = rate(k, n)
    if pooled:
        wrong = sum((each["meter"] == "wall") is (meter == "wall")
                    for kind in real for each in kind["which"])  # fmt: skip
        row("gates")[:2] = [f"{wrong} in all of its gates", told(pooled.asdict())]
    if meter == "wall" and summary["resampled"]:
        cells = row("resampled")
        alone = cells[1] == "-"
        again = f"resampled {told(summary['resampled'])} (runs of blocks)"
        cells[1] = again if alone else f"{cells[1]}; {again}"
    found = found_by_meter(summary)[meter]
    if found:
        part = meter if summary["detection"][meter] else "resampled"
        row(part)[2:] = [told(found.get(size)) for size in sizes]
    return [["**`benchproof gate`**", meter, *cells, "", rules] for rules, cells in said.items()]


def _missed(summary: Mapping[str, Any]) -> list[str]:
    """Every miss and every false alarm by name, so that somebody can look."""
    lines = [
        f"- {meter}, {percent(size)}: {miss['target']} [{miss['impl']}], {miss['site']}: "
        f"{miss['verdict']}"
        + (f", seen {(miss['ratio'] - 1) * 100:+.2f} %" if miss.get("ratio") else "")
        + (f", in other minutes {miss['achieved'] * 100:+.2f} %" if meter == RESAMPLED else "")
        for meter, sizes in (*summary["detection"].items(), (RESAMPLED, summary["resampled_wall"]))
        for size, about in sizes.items()
        for miss in about["missed"]
    ]
    lines += [
        f"- false alarm, {kind} gate {each['number']}: {each['name']} [{each['impl']}] "
        f"{each['meter']} {each['verdict']}"
        + (f", {(each['ratio'] - 1) * 100:+.2f} %" if each.get("ratio") else "")
        for kind, gates in summary["gates"].items() if gates
        for each in gates["which"]
    ]  # fmt: skip
    return ["## Every one that was wrong\n", *(lines or ["None."]), ""]
