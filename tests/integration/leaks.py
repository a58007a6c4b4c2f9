"""What a client must give back: threads and sockets of this process."""

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path

SETTLES_WITHIN = 10.0  # seconds


def sockets() -> int:
    """Sockets that this process has open; a descriptor may be closed while they are counted."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            count += str(descriptor.readlink()).startswith("socket:")
    return count


def threads() -> list[str]:
    """Names of the threads that live."""
    return sorted(thread.name for thread in threading.enumerate())


def eventually(condition: Callable[[], object], within: float = SETTLES_WITHIN) -> bool:
    """Whether a condition comes true within some seconds; returns as soon as it does."""
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Belongings:
    """What this process had at one moment."""

    def __init__(self) -> None:
        self.sockets, self.threads = sockets(), threads()

    def assert_given_back(self) -> None:
        """Fail with what there is now that was not there before."""
        if not eventually(
            lambda: sockets() <= self.sockets and len(threads()) <= len(self.threads)
        ):
            raise AssertionError(
                f"left behind: {sockets()} sockets (before: {self.sockets}), "
                f"threads {threads()} (before: {self.threads})"
            )
