"""How large what a server sends may become in memory, and in messages about it."""

from __future__ import annotations

from typing import Final


class Limits:
    """Limits of this process; set an attribute to change one.

    Attributes:
        growth: bytes in memory that a compressed body, or a tuple or user-defined type with fields
            that the server left out, may take for each byte of the frame. A value that was written
            before its type had more than 500 fields may need more. Bodies may grow by 8 anyway.
    """

    __slots__ = ("growth",)

    def __init__(self) -> None:
        """Begin with what no honest server was seen to need."""
        self.growth = 512


limits: Final = Limits()

_MOST_CHARACTERS: Final = 600


def shortened(text: str) -> str:
    """A text for a message, without its middle if it is long: a server may have written it."""
    left_out = len(text) - _MOST_CHARACTERS
    if left_out <= 0:
        return text
    half = _MOST_CHARACTERS // 2
    return f"{text[:half]} [... {left_out} characters ...] {text[-half:]}"
