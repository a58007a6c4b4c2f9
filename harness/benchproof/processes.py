"""Child processes, all in one process group, which ends with the harness whatever ends that."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from . import files

#: Seconds between asking a process group to end and making it end.
GRACE = 2.0
#: Leads the group. It reads from a pipe that nobody writes to, of which the harness has the other
#: end: when that is closed, by the system where need be, it ends the group, and itself.
_GUARD = "trap '' TERM; read -r _; kill -KILL 0"


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

    Children do not get the terminal's Ctrl-C (they are no foreground group): the harness gets
    it, and ends them by group, so that what a child started (valgrind, the compiler) ends too.
    A child is in the group before its program runs, so none is missed if the harness is killed
    between starting it and hearing of it.

    Attributes:
        scratch: a folder for what children read and write, as long as the block; their `TMPDIR`.
    """

    scratch: Path

    def __init__(self) -> None:
        """An empty crew."""
        self._ends = contextlib.ExitStack()
        self._alive: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def stopped(self) -> bool:
        """Whether it was ended: then how a child ended says nothing about the child."""
        return self._closed

    def __enter__(self) -> Self:
        """The crew itself, with its folder and its guard."""
        self.scratch = self._ends.enter_context(files.scratch())
        self._guard = subprocess.Popen(  # noqa: S603  (our own words)
            ["/bin/sh", "-c", _GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        return self

    def __exit__(self, *_: object) -> None:
        """End every child that is still alive, and remove the folder."""
        with self._ends:
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
                    env={**(os.environ if env is None else env), "TMPDIR": str(self.scratch)},
                    cwd=cwd,
                    process_group=self._guard.pid,
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
            alive, self._alive = list(self._alive.values()), {}
        if self._guard.returncode is not None:
            return
        if alive:
            os.killpg(self._guard.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        for process in alive:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
        # The guard is waited for only now, so that its number still names the group.
        os.killpg(self._guard.pid, signal.SIGKILL)
        for process in (*alive, self._guard):
            process.wait()
        if self._guard.stdin is not None:
            self._guard.stdin.close()


def run(
    command: Sequence[str], *, cwd: Path | None = None, seconds: float | None = None
) -> tuple[int, str]:
    """Run a program to its end; its exit status, and what it wrote.

    Raises:
        subprocess.TimeoutExpired: it took longer.
    """
    with Crew() as crew:
        child = crew.start(command, log=crew.scratch / "log", cwd=cwd)
        status = child.process.wait(seconds)
        return status, child.log.read_text(encoding="utf-8", errors="replace")
