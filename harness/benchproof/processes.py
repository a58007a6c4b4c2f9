"""Child processes, each in its own process group, so that none outlives the harness."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

#: Seconds between asking a process group to end and making it end.
GRACE = 2.0


@dataclass(frozen=True)
class Finished:
    """How a child ended: its exit status (negative: the signal) and the file with its output."""

    status: int
    log: Path

    def last_lines(self, count: int = 12) -> list[str]:
        """The last non-empty lines that it wrote, oldest first, without valgrind's own."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return [
            line.rstrip()
            for line in text.splitlines()
            if line.strip() and not line.startswith("==")
        ][-count:]


@dataclass(frozen=True)
class Child:
    """A started child process."""

    process: subprocess.Popen[bytes]
    log: Path


class Crew:
    """The children that are alive now; leaving the `with` block ends all of them.

    Children do not get the terminal's Ctrl-C (they lead their own sessions): the harness gets
    it, and ends them by group, so that what a child started (valgrind, the compiler) ends too.
    """

    def __init__(self) -> None:
        """An empty crew."""
        self._alive: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def stopped(self) -> bool:
        """Whether it was ended: then how a child ended says nothing about the child."""
        return self._closed

    def __enter__(self) -> Self:
        """The crew itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every child that is still alive."""
        self.stop()

    def start(
        self,
        command: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        talk: int | None = None,
    ) -> Child:
        """Start a child whose output goes to a file.

        Args:
            command: its command line.
            log: the file.
            env: its environment; ours without one.
            cwd: its working directory.
            talk: a file descriptor that it gets under the same number.

        Raises:
            RuntimeError: the crew has been stopped.
            OSError: the program cannot be started.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the crew has been stopped")
            with log.open("wb") as output:
                process = subprocess.Popen(  # noqa: S603  (our own command line, no shell)
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=None if env is None else dict(env),
                    cwd=cwd,
                    start_new_session=True,
                    pass_fds=() if talk is None else (talk,),
                )
            self._alive[process.pid] = process
        return Child(process, log)

    def wait(self, child: Child) -> Finished:
        """Wait for a child's end."""
        status = child.process.wait()
        with self._lock:
            self._alive.pop(child.process.pid, None)
        return Finished(status, child.log)

    def stop(self) -> None:
        """End all children: politely, then for certain."""
        with self._lock:
            self._closed = True
            alive, self._alive = dict(self._alive), {}
        for pid in alive:
            _signal_group(pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        for pid, process in alive.items():
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
            _signal_group(pid, signal.SIGKILL)
            process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    """Signal a process group that may be gone already."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
