"""Extra work that a compiler cannot remove and no meter but instructions and time can see.

A form is a way of spending instructions; an amount is how often. None allocates, so that it is the
instructions that must find it. What a form costs in a site is measured, never assumed (`tune`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: A constant of more bytes is not folded by Python's compiler, and would be made at each call.
_LONGEST = 4000


@dataclass(frozen=True)
class Form:
    """A way of spending instructions.

    Attributes:
        name: for the records.
        cython: whether it is Cython's.
        cost: roughly, of one in instructions; only trials are sized by it.
        most: more of them than this are not asked for.
        lines: source lines that spend it so many times.
    """

    name: str
    cython: bool
    cost: float
    most: int
    lines: Callable[[int], list[str]]


def _loops(number: int) -> list[str]:
    """Loops over constants, because a range would be allocated."""
    whole, rest = divmod(number, _LONGEST)
    parts = [_LONGEST] * whole + [rest] * bool(rest)
    return [f'for _extra in b"\\0" * {part}: pass' for part in parts]


def _stores_in_c(number: int) -> list[str]:
    # Volatile, or the C compiler would keep only the last one.
    return ["cdef volatile int _extra = 0", *["_extra = 1"] * number]


def _loops_in_c(number: int) -> list[str]:
    # The bound is volatile, too: a short loop of a known length is unrolled, and costs a quarter.
    return [
        "cdef volatile int _extra_sum = 0", f"cdef volatile int _extra_bound = {number}",
        "cdef int _extra_turn",
        "for _extra_turn in range(_extra_bound):", "    _extra_sum = _extra_turn",
    ]  # fmt: skip


#: By name. The first of each language is the finest: what the others leave is filled up with it.
FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form("stores", False, 40.0, 2000, lambda number: ["_extra = None"] * number),
        Form("loops", False, 80.0, 1_000_000, _loops),
        Form("checks", False, 430.0, 1000, lambda number: ["isinstance(None, int)"] * number),
        Form("C stores", True, 1.0, 2000, _stores_in_c),
        Form("C loops", True, 4.0, 1_000_000, _loops_in_c),
    )
}


def finest(*, cython: bool) -> Form:
    """The form with the smallest cost of a language."""
    return FORMS["C stores" if cython else "stores"]


def lines(amounts: Mapping[str, int]) -> list[str]:
    """The source lines of some amounts, by form."""
    return [
        line for name, number in amounts.items() if number for line in FORMS[name].lines(number)
    ]  # fmt: skip
