"""The command `benchproof`: every command's name, and what errors and Ctrl-C become."""

from __future__ import annotations

import functools
import signal
import sys
from typing import TYPE_CHECKING, NoReturn, ParamSpec

import typer
from rich.console import Console

from .commands import (
    bisect,
    calibrate,
    changes,
    claims,
    compare,
    doctor,
    gate,
    history,
    publish,
    run,
    share,
)
from .errors import BenchproofError, StoppedError, told

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

P = ParamSpec("P")

#: Each has `HELP`, shown by `--help`, and `command`, whose result is the exit status.
COMMANDS: tuple[ModuleType, ...] = (
    compare, run, gate, calibrate, history, changes, bisect, publish, share, claims, doctor,
)  # fmt: skip

app = typer.Typer(
    help="Measure what a change does to the hot paths of a CQL driver.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def tells_errors(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a person can mend into its lines on standard error, and exit with its status."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except BenchproofError as error:
            status = _complain(error)
        except OSError as error:
            status = _complain(told(error))
        except KeyboardInterrupt:
            status = _complain(StoppedError("stopped"))
        raise typer.Exit(status)

    return wrapped


def _complain(error: BenchproofError) -> int:
    """Print an error; its exit status."""
    Console(stderr=True).print(
        f"benchproof: {error}", highlight=False, markup=False, soft_wrap=True, style="red"
    )
    return error.exit_status


for _module in COMMANDS:
    _name = _module.__name__.rpartition(".")[2]
    app.command(name=_name, help=_module.HELP)(tells_errors(_module.command))


def main() -> NoReturn:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _stop)
    app()
    sys.exit(0)


def _stop(number: int, frame: object) -> NoReturn:
    """Treat a request to terminate as Ctrl-C: workers end, results are kept."""
    del number, frame
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
