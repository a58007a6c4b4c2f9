"""Entry point of the command `benchproof`: Ctrl-C is one line from here on, imports included.

Next to nothing is imported before that: what is stopped while it loads must be told as well.
"""

from __future__ import annotations

import signal
import sys
import time

TYPE_CHECKING = False  # without `typing`, which takes longer to load than all of this
if TYPE_CHECKING:
    from typing import NoReturn

#: What the command-line library ends with on Ctrl-C.
_INTERRUPTED = 130
#: Seconds in which another Ctrl-C is not heard: workers are ending, which must not be interrupted.
_ENDING = 4.0


class _Stops:
    """Turns Ctrl-C and a request to terminate into `KeyboardInterrupt`, once for each wish."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._last = -_ENDING

    def __call__(self, number: int, frame: object) -> None:
        """Handle the signal."""
        del number, frame
        now = time.monotonic()
        if now - self._last >= _ENDING:
            self._last = now
            raise KeyboardInterrupt


def main() -> NoReturn:
    """Run the command that `sys.argv` names, and exit with its status."""
    stops = _Stops()
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:  # as a shell starts what it puts aside
            signal.signal(number, stops)
    try:
        status = _status()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    finally:
        # What is left is the interpreter's own end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    from .errors import COULD_NOT_MEASURE  # noqa: PLC0415  (as the first lines say)

    if status == _INTERRUPTED:
        sys.stderr.write("benchproof: stopped\n")
        status = COULD_NOT_MEASURE
    sys.exit(status)


def _status() -> int:
    """Load the commands and run one; its exit status."""
    try:
        from .commands import app  # noqa: PLC0415  (as the first lines say)
    except ModuleNotFoundError as error:
        from .errors import missing  # noqa: PLC0415

        sys.stderr.write(f"benchproof: {(wrong := missing(error, 'benchproof'))}\n")
        return wrong.exit_status
    return app.run()


if __name__ == "__main__":
    main()
