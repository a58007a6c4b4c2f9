"""The load-test node: compiled by the C compiler that is here, started on loopback, and stopped."""

from __future__ import annotations

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from against import sides
from against.sides import SideError

from . import answers

if TYPE_CHECKING:
    from types import TracebackType

SOURCE = Path(__file__).with_name("node.c")
#: Where the recorded node said that it is: clients connect to the address that it tells.
ADDRESS = "127.0.66.1"
#: After so many seconds the node ends itself, whatever became of who started it.
LONGEST = 3600


def compiled(cache: Path) -> Path:
    """The program, compiled once.

    Raises:
        SideError: there is no compiler, or it does not compile.
    """
    return sides.compiled("the load-test node", SOURCE, cache / f"node-{sides.digest(SOURCE)}")


class LoadNode:
    """A load-test node that runs, as a context.

    Attributes:
        host: where it listens.
        port: likewise; the system chooses it.
        process: its id.
        held: requests that it left without an answer; known when it has ended.
    """

    def __init__(
        self, cache: Path, host: str = ADDRESS, *, hold: bool = False, seconds: int = LONGEST
    ) -> None:
        """Get ready.

        Args:
            cache: where the compiled program is kept.
            host: of loopback, for it to listen at.
            hold: leave statements without an answer.
            seconds: after which it ends itself.
        """
        self.host, self.port, self.held = host, 0, 0
        self._words = [compiled(cache), seconds, int(hold)]

    def __enter__(self) -> Self:
        """Start it, and wait until it listens.

        Raises:
            SideError: it does not.
        """
        program, seconds, hold = self._words
        with TemporaryDirectory(prefix="against-") as folder:
            table = Path(folder) / "table"
            table.write_bytes(answers.kept())
            words = [program, self.host, table, seconds, hold]
            self._running = subprocess.Popen(
                [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            ready = self._running.stdout.readline() if self._running.stdout else b""
        self.process = self._running.pid
        if not ready:
            told = self._running.communicate()[1].decode().strip()
            raise SideError(f"the load-test node does not start: {told}")
        self.port = int(ready)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """End it, by its process id."""
        self._running.terminate()
        told = self._running.communicate()[0].split()
        self.held = int(told[0]) if told else 0
