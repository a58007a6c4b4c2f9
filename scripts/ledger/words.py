"""Figures in words: what a page says, what was measured, side by side, for table and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from benchproof.render import units
from benchproof.site.claimed import VERDICTS

from .figures import COUNT, METRICS
from .policy import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .figures import Figure, Span
    from .judge import Finding, Judgement, RowFindings

#: A sign for each verdict, for readers who do not see colours: the dashboard's.
SIGNS: dict[Verdict, str] = {verdict: VERDICTS[verdict][1] for verdict in get_args(Verdict)}
#: What a meter's numbers are called where its name stands beside others.
SHORT = {"wall": "time", "instructions": "instr", "allocations": "allocs", "bytes": "bytes",
         "calls": "calls"}  # fmt: skip


def published(figure: Figure) -> str:
    """The numbers as the page has them: ``402 → 292 ns``, ``30x``, ``15 ns less``."""
    unit = "" if figure.unit == COUNT else f" {figure.unit}"
    said = []
    if figure.before and figure.after:
        said.append(f"{span(figure.before)} → {span(figure.after)}{unit}")
    if figure.speedup:
        said.append(f"{span(figure.speedup)}x")
    if figure.saved_percent:
        said.append(f"{span(figure.saved_percent)} % less")
    if figure.saved:
        said.append(f"{span(figure.saved)}{unit} less")
    return ", ".join(said)


def claimed(figure: Figure) -> str:
    """What is compared: the ratio, the saving, or nothing."""
    if figure.basis == "saving" and figure.saving:
        return f"{_amount(figure, figure.saving[0], figure.saving[1])} less"
    if figure.basis == "ratio" and figure.ratio:
        low, high = (units.ratio(end) for end in figure.ratio)
        return low if low == high else f"{low} to {high}"
    return "nothing to compare"


def measured(figure: Figure, judgement: Judgement, *, brief: bool = False) -> str:
    """What was measured, every meter that can say something about the figure.

    Args:
        figure: the claim.
        judgement: with the meters.
        brief: for a narrow column: how far an interval reaches, instead of its ends.
    """
    said = []
    for name in METRICS.get(figure.metric, ()):
        meter = judgement.meters.get(name)
        if meter is None:
            continue
        alone = len(METRICS[figure.metric]) == 1 or (brief and name == "wall")
        label = "" if alone else f"{SHORT[name]} "
        if figure.basis == "saving":
            less = meter["left"] - meter["right"]
            word = "less" if less >= 0 else "more"
            said.append(f"{label}{_amount(figure, abs(less), abs(less))} {word}")
        else:
            said.append(label + ratio(meter, brief=brief))
    return ", ".join(said) or "-"


def verdict(finding: Finding) -> str:
    """A verdict with its sign; of one that exceeded its claim, by what."""
    return ": ".join(
        filter(None, (f"{SIGNS[finding.verdict]} {finding.verdict}", by_what(finding)))
    )


def by_what(finding: Finding) -> str:
    """By what a claim was exceeded; empty if it was not.

    That is of the implementation that the claim is about, or of the one that gained less.
    """
    if finding.verdict != "exceeded":
        return ""
    figure = finding.figure
    exceeded = {i: each for i, each in finding.judged.items() if each.verdict == "exceeded"}
    about = [each for impl, each in exceeded.items() if impl == figure.impl]
    found = [each.meters[each.by] for each in about or exceeded.values()]
    if figure.basis == "saving":
        gone = min(meter["left"] - meter["right"] for meter in found)
        asked = _amount(figure, *(figure.saving or (gone, gone)))
        return f"{_amount(figure, gone, gone)} less for {asked}"
    meter = max(found, key=lambda each: each["ratio"] or 0.0)
    asked = _times(*(figure.ratio or (1.0, 1.0)))
    return f"{_times(meter['low'], meter['high'])} for {asked}"


def _times(low: float, high: float) -> str:
    """The ends of a ratio as how many times less it is: ``19 to 20x``."""
    if not low:  # none is left, in the best case or in any
        return f"{1 / high:.3g}x and more" if high else "none left"
    few, most = (f"{1 / end:.3g}" for end in (high, low))
    return f"{few}x" if few == most else f"{few} to {most}x"


def ratio(meter: Mapping[str, Any], *, brief: bool = False) -> str:
    """A ratio, with its interval where it has one, or by which factor that reaches up and down."""
    if meter["ratio"] is None:
        return "from 0"
    text = units.ratio(meter["ratio"])
    if meter["low"] == meter["high"]:
        return text
    if brief:
        reach = (meter["high"] / meter["ratio"] - 1) * 100
        return f"{text} \N{PLUS-MINUS SIGN}{f'{reach:.0f}' if reach >= 10 else f'{reach:.2g}'}%"
    return f"{text} ({units.ratio(meter['low'])} to {units.ratio(meter['high'])})"


def meters(found: Mapping[str, Any]) -> str:
    """All ratios of a case, for a row without figures."""
    return ", ".join(f"{SHORT[name]} {ratio(meter)}" for name, meter in found.items()) or "-"


def reason(finding: Finding) -> str:
    """Why a verdict is what it is, and what the ledger says beside it."""
    return "; ".join(filter(None, (finding.why, finding.figure.note)))


def reasons(findings: Sequence[Finding], *, rows: bool = False) -> dict[str, list[str]]:
    """The words beside verdicts, each with the cases that it is about, and their rows if asked."""
    said: dict[str, dict[str, None]] = {}
    for finding in findings:
        if text := reason(finding):
            row = f"{finding.figure.row} " * rows
            said.setdefault(text, {})[f"{row}{finding.figure.case}"] = None
    return {text: list(cases) for text, cases in said.items()}


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """How many figures got each verdict, in the order of SIGNS; without those that none got."""
    counted = {
        verdict: sum(f.verdict == verdict for f in findings if f.counts) for verdict in SIGNS
    }
    return {verdict: number for verdict, number in counted.items() if number}


def summary(rows: Sequence[RowFindings]) -> str:
    """One sentence that counts; of a page of which only the technique was tried, nothing."""
    shown = [row for row in rows if not row.row.page.technique]
    counted = tally([finding for row in shown for finding in row.findings])
    counts = ", ".join(f"{number} {verdict}" for verdict, number in counted.items())
    figures = sum(counted.values())
    return f"{figures} published figures of {len(shown)} rows: {counts or 'none'}"


def span(ends: Span) -> str:
    """A number, or the two ends of a range, as they were published."""
    low, high = (f"{end:,.10g}" for end in ends)
    return low if low == high else f"{low} to {high}"


def _amount(figure: Figure, low: float, high: float) -> str:
    """A saving in the meter's unit."""
    write = units.size if figure.metric == "bytes" else units.count
    few, most = write(low), write(high)
    return few if few == most else f"{few} to {most}"
