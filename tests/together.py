"""Threads that begin at once, for what they share: each failure reaches the test.

`STRESS=20 pytest tests/unit/threads` goes round twenty times as often as the usual run.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: How often a test goes round, times what it asks for.
STRESS = int(os.environ.get("STRESS", "1"))
#: Seconds that threads have.
_PATIENCE = 60 * STRESS


def together(*works: Callable[[], object]) -> None:
    """Run functions on threads of their own that begin at once.

    With the interpreter's lock, threads take turns a thousand times as often as usual.

    Raises:
        ExceptionGroup: what they raised.
        TimeoutError: one of them does not end.
    """
    begin = threading.Barrier(len(works))
    failures: list[Exception] = []

    def run(work: Callable[[], object]) -> None:
        begin.wait(_PATIENCE)
        try:
            work()
        except Exception as error:  # noqa: BLE001  (raised again by the thread that waits)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE)
    finally:
        sys.setswitchinterval(usual)
    if failures:
        raise ExceptionGroup("threads that share", failures)
    if any(thread.is_alive() for thread in threads):
        raise TimeoutError("a thread does not end")
