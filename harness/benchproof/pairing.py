"""Hears the workers of both sides case by case, and tells both the same: so they do the same.

A counting worker asks two things. How often to call a case, once it has counted one call: the
dearer side decides. And whether to count another round: until both sides agree with themselves.
"""

import contextlib
import json
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from . import plan
from .meters import instructions
from .meters.counts import priced, settled

#: What the sides said of one case: a question, or the worker's last words about it.
Said = dict[plan.SideName, dict[str, Any]]


class End:
    """The harness's end of a conversation with one worker."""

    def __init__(self) -> None:
        """Both ends; the worker's is to be closed here once the worker has it."""
        self._ours, self.theirs = socket.socketpair()
        self._lines = self._ours.makefile("rb")

    def hear(self) -> dict[str, Any] | None:
        """What the worker says next; None once it has ended."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self._lines.readline())  # type: ignore[no-any-return]
        return None

    def say(self, answer: Any) -> None:  # noqa: ANN401  (what JSON holds)
        """Answer a worker, which may have ended."""
        with contextlib.suppress(OSError):
            self._ours.sendall(json.dumps(answer).encode())

    def close(self) -> None:
        """Nothing more will be said."""
        self.theirs.close()
        self._lines.close()
        self._ours.close()


def converse(
    ends: dict[plan.SideName, End], names: Sequence[str], answer: Callable[[str, Said], Any]
) -> Iterator[tuple[str, Said]]:
    """Answer the questions of all workers, which go through the same cases in the same order.

    Args:
        ends: of the conversations.
        names: of the cases.
        answer: a case's name and what all ask; what all are told. A side that asks alone,
            because the other one has failed, is told None.

    Yields:
        A case's name and the last words about it; without a side that has ended before.
    """
    for name in names:
        last: Said = {}
        asking = dict(ends)
        while asking:
            said = {side: end.hear() for side, end in asking.items()}
            heard: Said = {side: words for side, words in said.items() if words is not None}
            last |= {side: words for side, words in heard.items() if "name" in words}
            asking = {side: ends[side] for side in heard if side not in last}
            if asking:
                questions = {side: heard[side] for side in asking}
                told = answer(name, questions) if len(questions) == len(ends) else None
                for end in asking.values():
                    end.say(told)
        yield name, last


@dataclass(frozen=True)
class Answers:
    """What counting workers are told.

    Attributes:
        folders: where the dumps of each side lie.
        loops: by case; a case that was counted for the first time gets its own.
        prices: by case, instructions of a call when it was first counted, of the dearer side.
        firsts: by case and side, what the last of its first calls cost.
    """

    folders: Mapping[plan.SideName, Path]
    loops: dict[str, plan.Loops]
    prices: dict[str, float]
    firsts: dict[tuple[str, plan.SideName], float] = field(default_factory=dict)

    def __call__(self, name: str, said: Said) -> Any:  # noqa: ANN401  (what JSON holds)
        """The answer to what both sides ask about a case."""
        if all("first" in question for question in said.values()):
            return self._plan(name, said)
        return not all(
            settled(self._rounds(name, side, question.get("dumps", ())), self.prices[name])
            for side, question in said.items()
        )

    def _plan(self, name: str, said: Said) -> dict[str, int] | bool | None:
        """How often to call a case, True to count another call; None if a dump is not there."""
        over, least = True, []
        for side, question in said.items():
            found = [
                instructions.read_dump(self.folders[side], index) for index in question["first"]
            ]
            counts = [float(count) for count in found if count]
            if len(counts) < len(found):
                return None
            over = over and priced(counts)
            self.firsts[name, side] = counts[-1]
            least.append(min(counts))
        if not over:
            return True
        self.prices[name] = max(least)
        self.loops[name] = plan.exact(self.loops[name], self.prices[name])
        planned = self.loops[name].instructions
        called = min(len(question["first"]) for question in said.values())
        return vars(replace(planned, warm=max(0, planned.warm - called)))

    def _rounds(
        self, name: str, side: plan.SideName, dumps: Sequence[Sequence[instructions.Mark]]
    ) -> list[float]:
        """What a call cost in each round so far, as it was counted (without prices)."""
        counts = self.loops[name].instructions
        rounds = []
        if not counts.few and (name, side) in self.firsts:
            rounds.append(self.firsts[name, side])
        for pair in dumps:
            totals = [instructions.read_dump(self.folders[side], index) for index in pair]
            rounds.append(counts.per_call([float(total or 0) for total in totals]))
        return rounds
