"""One-line warnings why numbers are suspect, as BenchmarkDotNet's analysers give them.

They change no verdict. Each is computed from what was sampled, so it is in the document too.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from .collected import Sampled, Samples
from .errors import few

Times = Mapping[str, tuple[Sequence[float], Sequence[float]]]

#: Processes it takes to speak of modes; the least part of them in either one; by how much the
#: two must differ; and how far they must lie apart beside their own spread (Ashman's D: 2 is where
#: two normal distributions begin to show two peaks). Of 10,000 draws of 12 numbers of one mode 8
#: are taken for two if they are normal and 112 if exponential; of 20 numbers, none and 5.
FEWEST, LEAST_PART, LEAST_APART, ASHMAN = 12, 0.25, 0.02, 7.0
#: Seconds that a timed loop should last: reading the clock takes about a hundredth of that.
SHORT = 1e-5


def warnings(samples: Samples, times: Mapping[str, Times]) -> list[dict[str, Any]]:
    """What makes the numbers of a comparison suspect.

    Args:
        samples: of all variants.
        times: by variant and case, one wall time a process of either side, in seconds a call.

    Returns:
        Rows ``{about, impl, names, why}``: the kind of warning, the variant ("" for all), the
        benchmarks that it concerns (none for all), and the words.
    """
    found = [
        {"about": "debug build", "impl": "", "names": [], "why": why}
        for why in samples.about.get("provenance", {}).get("debug", ())
    ]
    for each in samples.variants:
        found += _builds(each)
        if words := differ(each.sides):
            found.append({"about": "dependencies", "impl": each.name, "names": [], "why": words})
        found += _walls(each, times.get(each.name, {}))
    return found


def told(document: Mapping[str, Any]) -> list[str]:
    """The warnings of a document as lines; none in one of before they were kept."""
    lines = []
    for row in document.get("warnings", ()):
        which = f": {few(row['names'])}" if row["names"] else ""
        impl = f" [{row['impl']}]" if row["impl"] else ""
        lines.append(f"warning: {row['about']}{impl}: {row['why']}{which}")
    return lines


def differ(sides: Mapping[str, Mapping[str, Any]]) -> str:
    """In words, which packages two sides run with in different versions; "" if none."""
    had, has = (sides.get(side, {}).get("dependencies", {}) for side in ("left", "right"))
    named = [
        f"{name} {had.get(name, 'absent')} and {has.get(name, 'absent')}"
        for name in sorted(had.keys() | has.keys())
        if had.get(name) != has.get(name)
    ]
    return f"the sides need different packages: {few(named)}" if named else ""


def modes(numbers: Sequence[float]) -> tuple[float, float] | None:
    """The means of two modes, the lesser first; None where there is one.

    The numbers are parted where Ashman's D is largest: the distance of the means of both parts in
    units of their common spread, times the root of two (Ashman, Bird and Zepf 1994).
    """
    ordered, number = sorted(numbers), len(numbers)
    least = max(3, math.ceil(LEAST_PART * number))
    best, found = 0.0, None
    for at in range(least, number - least + 1) if number >= FEWEST else ():
        low, high = ordered[:at], ordered[at:]
        apart = statistics.fmean(high) - statistics.fmean(low)
        spread = math.hypot(statistics.stdev(low), statistics.stdev(high))
        distance = math.sqrt(2) * apart / spread if spread else math.inf if apart else 0.0
        if distance > best:
            best, found = distance, (statistics.fmean(low), statistics.fmean(high))
    if found is None or best < ASHMAN or found[1] < found[0] * (1 + LEAST_APART):
        return None
    return found


def _builds(each: Sampled) -> list[dict[str, Any]]:
    """A side that is not compiled though it could be, or though the other one is."""
    about, kinds = "pure Python", {side: row.get("kind") for side, row in each.sides.items()}
    found = [
        {"about": about, "impl": each.name, "names": [],
         "why": f"the build of the {side} side fell back to it: {row['why_pure']}"}
        for side, row in each.sides.items() if row.get("why_pure")
    ]  # fmt: skip
    asked = any("impl:" in row.get("spec", "") for row in each.sides.values())
    if not found and not asked and set(kinds.values()) == {"compiled", "pure"}:
        pure = next(side for side, kind in kinds.items() if kind == "pure")
        why = f"the {pure} side has no compiled modules, and the other one has"
        found.append({"about": about, "impl": each.name, "names": [], "why": why})
    return found


def _walls(each: Sampled, times: Times) -> list[dict[str, Any]]:
    """Wall times of several modes, and those of loops that end before a clock can tell."""
    several, short = [], []
    for name, (left, right) in sorted(times.items()):
        if len(left) >= FEWEST and modes([b / a for a, b in zip(left, right, strict=True)]):
            several.append(name)
        loops = each.got.loops.get(name)
        lasted = [statistics.median(side) * loops.wall for side in (left, right) if side and loops]
        if lasted and min(lasted) < SHORT:
            short.append(name)
    found = {
        "several modes": (several, "the ratios of its pairs of processes fall into two groups"),
        "too short a loop": (
            short, f"a value lasts less than {SHORT * 1e6:g} us, and the clock's own time is in it"
        ),
    }  # fmt: skip
    return [
        {"about": about, "impl": each.name, "names": names, "why": why}
        for about, (names, why) in found.items() if names
    ]  # fmt: skip
