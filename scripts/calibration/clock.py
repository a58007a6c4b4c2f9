"""A campaign's time: how long it may take, and how long it will."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from benchproof.progress import Teller

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")

#: Seconds that a person waits before they want to know how long it takes, and between two answers.
NOTICED = 10.0


@dataclass
class Clock:
    """The budget of one run of a part.

    Attributes:
        budget: seconds, or None for as long as it takes.
        tell: hears how far it is.
        where: the step that runs now.
    """

    budget: float | None
    tell: Teller
    where: str = field(default="", init=False)
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        """The time begins now."""
        self._start = time.monotonic()

    def spent(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._start

    def left(self) -> float | None:
        """Seconds that remain of the budget, or None."""
        return None if self.budget is None else self.budget - self.spent()

    def steps(self, what: str, todo: Sequence[T], done: int = 0) -> Iterator[T]:
        """Go through what is to be done, as far as the budget reaches; say how far it is.

        A step that would probably end after the budget is not begun (but the first one always
        is, while there is any budget: nobody knows how long it takes).

        Args:
            what: the name of a step, as in "gate".
            todo: the steps.
            done: how many were done in runs before this one.
        """
        total, longest = done + len(todo), 0.0
        begun = said = time.monotonic()
        for number, step in enumerate(todo):
            left = self.left()
            if left is not None and left < longest:
                self.where = ""
                self.tell.line(f"the budget ends here: {done + number} of {total} {what}s are kept")
                return
            start = time.monotonic()
            if number and start - said > NOTICED:
                rest = (start - begun) / number * (len(todo) - number)
                self.tell.expect(rest if left is None else min(rest, left))
                said = start
            self.where = f"{what} {done + number + 1} of {total}"
            # A comma makes a log say the first of many short steps only.
            self.tell.stage(self.where if longest > NOTICED or not number else f"{what}, {number}")
            yield step
            longest = max(longest, time.monotonic() - start)
        self.where = ""


@dataclass(frozen=True)
class Inside(Teller):
    """A teller for what runs inside of a step: how long the campaign takes is not its to say.

    Attributes:
        clock: of the campaign.
    """

    clock: Clock

    def stage(self, text: str) -> None:
        """Behind the step's own words."""
        self.clock.tell.stage(f"{self.clock.where}: {text}" if self.clock.where else text)

    def expect(self, seconds: float) -> None:
        """Of the part, not of the whole."""

    def line(self, text: str) -> None:
        """As it is."""
        self.clock.tell.line(text)
