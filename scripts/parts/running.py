"""Runs commands side by side: each one's output whole, progress between, nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Seconds between two lines about what runs.
EVERY = 30.0
#: Seconds that a part may take to clean up after Ctrl-C (a ring of servers, a build), then to end.
CLEANS_UP_WITHIN, ENDS_WITHIN = 40.0, 5.0
#: How far pytest is, at the end of each of its lines.
_PERCENT = re.compile(rb"\[ *(\d+)%\]")
#: What pytest counted, in its last line.
_COUNTED = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")


@dataclass(frozen=True)
class Part:
    """A command of a run.

    Attributes:
        name: one word, for the lines about it.
        command: its words.
        needs: parts that have to pass before it starts; it is left out if one did not.
        after: parts that have to have ended before it starts, however they ended.
        decisive: the whole run ends if it fails.
        waits: it waits for servers more than it works, so that it takes no slot.
        environment: variables beside those of this process.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    decisive: bool = False
    waits: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class _Running:
    """A part and its process, which leads a group of its own."""

    part: Part
    process: subprocess.Popen[bytes]
    output: Path
    since: float
    processor: float = 0.0

    def ended(self) -> bool:
        """Whether it has ended: then its processor time, its children's among it, is known."""
        if self.process.returncode is None:
            pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.processor = used.ru_utime + used.ru_stime
        return self.process.returncode is not None

    def progress(self) -> str:
        """Its name, with per cent if it prints them."""
        found = _PERCENT.findall(self.output.read_bytes()[-4000:])
        return f"{self.part.name} {int(found[-1])} %" if found else self.part.name

    def send(self, number: int) -> None:
        """Send a signal to the process and all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


@dataclass(frozen=True)
class Outcome:
    """How a part ended.

    Attributes:
        part: which.
        seconds: from its start to its end.
        processor: seconds of processor time, which load beside it hardly changes.
        word: ``passed``, ``failed (status 2)``, ``stopped`` or ``left out``.
    """

    part: Part
    seconds: float
    processor: float
    word: str


class Run:
    """One run of parts, as many at a time as there are slots, and those that wait beside them."""

    def __init__(self, parts: Sequence[Part], slots: int, folder: Path) -> None:
        """Take the parts in the order in which they should start."""
        self.waiting = list(parts)
        self.slots = slots
        self.folder = folder
        self.running: list[_Running] = []
        self.outcomes: dict[str, Outcome] = {}
        self.began = time.monotonic()
        self.counts: dict[str, int] = {}
        #: How often a signal asked to end.
        self.asked = 0

    def go(self) -> list[Outcome]:
        """Run all of them.

        Returns:
            How each ended, in the order in which they ended.
        """
        spoken = time.monotonic()
        try:
            while (self.waiting or self.running) and not self.asked:
                self._start_what_can()
                if self._end_what_has() or not self.running:
                    continue
                if time.monotonic() - spoken >= EVERY:
                    spoken = time.monotonic()
                    self._say("running " + ", ".join(each.progress() for each in self.running))
                time.sleep(0.1)
        finally:
            self._stop_all()
        return list(self.outcomes.values())

    def _start_what_can(self) -> None:
        for part in list(self.waiting):
            before = {name: self.outcomes.get(name) for name in (*part.needs, *part.after)}
            if any(before[name] and before[name].word != "passed" for name in part.needs):
                self.waiting.remove(part)
                self.outcomes[part.name] = Outcome(part, 0.0, 0.0, "left out")
            elif (part.waits or self._working() < self.slots) and all(before.values()):
                self.waiting.remove(part)
                self._start(part)

    def _working(self) -> int:
        """How many slots are taken."""
        return sum(not each.part.waits for each in self.running)

    def _start(self, part: Part) -> None:
        output = self.folder / part.name
        # Of its own: sessions of pytest that end at once would clear away each other's old folders.
        temporary = self.folder / f"{part.name}.tmp"
        temporary.mkdir()
        with output.open("wb") as file:
            process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTEST_DEBUG_TEMPROOT": str(temporary), **part.environment},
                start_new_session=True,
            )
        self.running.append(_Running(part, process, output, time.monotonic()))
        self._say(f"{part.name} starts")

    def _end_what_has(self) -> bool:
        """Tell of the parts that ended; whether there was one."""
        ended = [each for each in self.running if each.ended()]
        for each in ended:
            self.running.remove(each)
            status = each.process.returncode
            self._told(each, "passed" if status == 0 else f"failed (status {status})")
            if status and each.part.decisive:
                self._say(f"{each.part.name} failed, so the rest is not run")
                self._stop_all()
        return bool(ended)

    def _told(self, each: _Running, word: str) -> None:
        """Print a part's output, whole, and keep how it ended."""
        seconds = time.monotonic() - each.since
        text = each.output.read_text(encoding="utf-8", errors="replace")
        if text:
            sys.stdout.write(f"---- {each.part.name}\n{text}")
            sys.stdout.write("" if text.endswith("\n") else "\n")
        self._say(f"{each.part.name} {word} after {seconds:.0f} s")
        self.outcomes[each.part.name] = Outcome(each.part, seconds, each.processor, word)
        # Libraries may say something when the interpreter ends, after pytest's last line.
        last = next((line for line in text.splitlines()[::-1] if line.startswith("=")), "")
        for number, what in _COUNTED.findall(last):
            kind = "failed" if what.startswith("error") else what
            self.counts[kind] = self.counts.get(kind, 0) + int(number)

    def _stop_all(self) -> None:
        """End what runs: as Ctrl-C does first, so that it cleans up, then by force."""
        stopped = list(self.running)
        if stopped:
            self._say("ending " + ", ".join(each.part.name for each in stopped))
        for number, within in (
            (signal.SIGINT, CLEANS_UP_WITHIN),
            (signal.SIGTERM, ENDS_WITHIN),
            (signal.SIGKILL, ENDS_WITHIN),
        ):
            end = time.monotonic() + within
            for each in stopped:
                if not each.ended() or number == signal.SIGKILL:
                    each.send(number)
            while any(not each.ended() for each in stopped):
                if time.monotonic() > end or self.asked > 1:
                    break
                time.sleep(0.05)
        for each in stopped:
            self._told(each, "stopped")
        self.running.clear()
        for part in self.waiting:
            self.outcomes[part.name] = Outcome(part, 0.0, 0.0, "left out")
        self.waiting.clear()

    def _say(self, text: str) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        sys.stdout.write(f"[{minutes:2}:{seconds:02}] {text}\n")
        sys.stdout.flush()

    def table(self) -> str:
        """Each part's seconds, the sum, and what the tests counted."""
        outcomes = list(self.outcomes.values())
        lines = [f"{'part':<20}{'seconds':>8}{'processor':>11}"]
        lines += [
            f"{each.part.name:<20}{each.seconds:8.0f}{each.processor:11.0f}   {each.word}"
            for each in outcomes
        ]
        both = time.monotonic() - self.began, sum(each.processor for each in outcomes)
        lines.append(f"{'all, side by side':<20}{both[0]:8.0f}{both[1]:11.0f}")
        if self.counts:
            words = ("passed", "failed", "skipped")
            lines.append(", ".join(f"{self.counts.get(word, 0)} {word}" for word in words))
        return "\n".join(lines) + "\n"


def run(parts: Sequence[Part], slots: int) -> int:
    """Run parts side by side and print how long each took.

    Args:
        parts: in the order in which they should start: the longest first.
        slots: how many run at a time.

    Returns:
        0 if all passed, 1 if one did not, 130 if a signal asked to end (a second one ends at once).
    """
    with tempfile.TemporaryDirectory(prefix="parts-", ignore_cleanup_errors=True) as folder:
        this = Run(parts, slots, Path(folder))

        def ask(*_: object) -> None:
            this.asked += 1

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, ask)
        outcomes = this.go()
    sys.stdout.write("\n" + this.table())
    sys.stdout.flush()
    return 130 if this.asked else int(any(each.word != "passed" for each in outcomes))
