"""Two workers on one core take turns: while one times a value, the other waits.

A machine that is shared is not equally fast from one moment to the next: its speed halves, for
milliseconds or for seconds (docs/measuring.md). Two values that follow each other at once nearly
always meet the same machine, which two processes that follow each other do not.

Each worker has one end of a pair of sockets, and says a byte at a time:

====  ==============================================================================================
``r``  ready: the case is set up and warm, and nothing of it runs until it has a turn
``t``  your turn: a value has been taken
``e``  the end of a case, whether it was timed or failed
====  ==============================================================================================

A side whose other side fails, or has ended, goes on alone: nobody waits for who will not answer.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

READY, TURN, END = b"r", b"t", b"e"


class Turns:
    """This worker's end. Without a descriptor there is no other side, and every turn is its own."""

    def __init__(self, descriptor: int | None = None, *, first: bool = True) -> None:
        """The end, and whether this side begins every case."""
        self._descriptor, self._first = descriptor, first
        # Whether the other side has said that it is done with this case, or has ended.
        self._alone = descriptor is None

    def take(self, count: int) -> Generator[None]:
        """As many turns as there are values; each of them lasts until the next one is asked for.

        Who stops before has to close it. Both sides say and hear a word a turn, the first one says
        before it hears, the other one hears first: so they never wait for each other, whatever
        each does between.
        """
        self._say(READY)
        self._hear()
        for _ in range(count):
            if not self._first:
                self._hear()
            try:
                yield
            finally:
                self._say(TURN)
                if self._first:
                    self._hear()

    def end(self) -> None:
        """Have done with a case, and wait until the other side has, too."""
        self._say(END)
        while not self._alone:
            self._hear()
        self._alone = self._descriptor is None

    def _say(self, word: bytes) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):  # the other side has ended
                os.write(self._descriptor, word)

    def _hear(self) -> None:
        """Wait for the other side's next word."""
        if self._alone or self._descriptor is None:
            return
        word = b""
        with contextlib.suppress(OSError):
            word = os.read(self._descriptor, 1)
        if word in {b"", END}:
            self._alone = True
        if not word:
            self._descriptor = None
