"""Numbers that an application gives: what cannot be one of them is refused by its name."""

from __future__ import annotations

from typing import Any


def refuse_negative(name: str, value: Any) -> None:  # noqa: ANN401  (it may be anything)
    """Refuse what is no number, and numbers below 0.

    Raises:
        TypeError: it is no number.
        ValueError: it is negative.
    """
    try:
        is_negative = value < 0
    except TypeError:
        raise TypeError(f"{name} is a number, not {value!r}") from None
    if is_negative:
        raise ValueError(f"{name} must not be negative, got {value}")
