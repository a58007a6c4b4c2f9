"""Numbers as people read them: three significant digits and the unit that fits."""

import math
import re
from collections.abc import Iterable

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTE_UNITS = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
_COUNT_UNITS = ((1e9, "G"), (1e6, "M"))
#: From this ratio on, and below its inverse, a factor says more than a percentage.
FACTOR, FRACTION = 2.0, 0.05
#: From this factor on, how large exactly makes no difference to what a run could have seen.
HUGE = 1000.0


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits and no exponent: ``1.23``, ``45.6``, ``789``."""
    if value == 0:
        return "0"
    # Rounding first: 999.7 has to become 1000 before its decimals are counted.
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def _scaled(value: float, units: Iterable[tuple[float, str]]) -> str:
    """A number in the first unit that is not larger; empty if all are."""
    found = ((size, unit) for size, unit in units if abs(value) >= size)
    return next((f"{significant(value / size)} {unit}" for size, unit in found), "")


def seconds(value: float) -> str:
    """A time in s, ms, µs or ns."""
    rounded = float(f"{value:.3g}")
    return _scaled(rounded, _TIME_UNITS) or f"{significant(rounded / 1e-9)} ns"


def count(value: float) -> str:
    """A count a call; a difference of two loop counts may leave a fraction."""
    if large := _scaled(value, _COUNT_UNITS):
        return large
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return significant(value)


def size(value: float) -> str:
    """A number of bytes, in binary units."""
    return _scaled(value, _BYTE_UNITS) or f"{count(value)} B"


def ratio(value: float) -> str:
    """A ratio: three decimals near 1, where the third one matters, else three digits."""
    return f"{value:.3f}" if 0.5 <= value < 2 else significant(value)


def percent(fraction: float) -> str:
    """A fraction as a percentage: 0.005 is ``0.5 %``, with a space that does not break."""
    return f"{float(f'{100 * fraction:.2g}'):g}\N{NO-BREAK SPACE}%"


def change(ratio: float | None) -> str:
    """A ratio as a change: ``+3.12 %``, ``-11.9 %``, ``x2.41``, ``=``; from nothing it has none."""
    if ratio is None or math.isinf(ratio):
        return "from 0"
    if ratio == 1:
        return "="
    if ratio >= FACTOR:
        return f"\N{MULTIPLICATION SIGN}{significant(ratio)}"
    if ratio < FRACTION:
        return f"\N{DIVISION SIGN}{significant(1 / ratio)}" if ratio else "to 0"
    percents = (ratio - 1) * 100
    digits = 2 if abs(round(percents, 2)) < 10 else 1
    # Minus zero is zero.
    return f"{round(percents, digits) + 0.0:+.{digits}f}\N{NO-BREAK SPACE}%"


def seen(ratio: float) -> str:
    """The smallest change that could have been seen: ``+12 %``, ``x5.60``, ``over x1,000``."""
    if ratio < FACTOR:
        return f"+{percent(ratio - 1)}"
    factor = f"\N{MULTIPLICATION SIGN}{significant(min(ratio, HUGE))}"
    return factor if ratio <= HUGE else f"over {factor}"


def slug(text: str) -> str:
    """A text as a file name or an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "untitled"


def geometric_mean(values: list[float]) -> float | None:
    """The geometric mean of positive numbers; None for an empty list."""
    if not values:
        return None
    return math.exp(math.fsum(map(math.log, values)) / len(values))
