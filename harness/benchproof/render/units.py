"""Numbers as people read them: three significant digits and the unit that fits."""

from __future__ import annotations

import math
import re
from typing import TypeGuard

_TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTE_UNITS = ((2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"))
_COUNT_UNITS = ((1e9, "G"), (1e6, "M"))


def usable(value: object) -> TypeGuard[float]:
    """Whether a value read from JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits and no exponent: ``1.23``, ``45.6``, ``789``."""
    if value == 0:
        return "0"
    # Rounding first: 999.7 has to become 1000 before its decimals are counted.
    rounded = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def seconds(value: float) -> str:
    """A time in s, ms, µs or ns."""
    rounded = float(f"{value:.3g}")
    for size, unit in _TIME_UNITS:
        if abs(rounded) >= size:
            return f"{significant(rounded / size)} {unit}"
    return f"{significant(rounded / 1e-9)} ns"


def count(value: float) -> str:
    """A count a call; a difference of two loop counts may leave a fraction."""
    for size, unit in _COUNT_UNITS:
        if abs(value) >= size:
            return f"{significant(value / size)} {unit}"
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}"
    return significant(value)


def size(value: float) -> str:
    """A number of bytes, in binary units."""
    for scale, unit in _BYTE_UNITS:
        if abs(value) >= scale:
            return f"{significant(value / scale)} {unit}"
    return f"{count(value)} B"


def ratio(value: float) -> str:
    """A ratio: three decimals near 1, where the third one matters, else three digits."""
    return f"{value:.3f}" if 0.5 <= value < 2 else significant(value)


def percent(fraction: float) -> str:
    """A fraction as a percentage: 0.005 is ``0.5 %``, with a space that does not break."""
    return f"{float(f'{100 * fraction:.2g}'):g}\N{NO-BREAK SPACE}%"


def slug(text: str) -> str:
    """A text as a file name or an anchor."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "untitled"


def geometric_mean(values: list[float]) -> float | None:
    """The geometric mean of positive numbers; None for an empty list."""
    if not values:
        return None
    return math.exp(math.fsum(map(math.log, values)) / len(values))
