"""Compare, gate and track benchmarks of a Python project.

Examples:
  benchproof init                  write the few lines that a project needs
  benchproof list                  what is there to measure, and by what?
  benchproof compare HEAD .        what do my uncommitted edits do?
  benchproof try                   are they right, faster, and worth keeping?
  benchproof gate main HEAD        may this branch go in?
  benchproof doctor                what can this machine measure?

Every command has --help with examples, and --json FILE for its document ('-' is standard output).

Exit status: 0 no regression, 1 regression, 2 could not measure, or stopped, 3 cannot decide.
"""

import functools
import importlib
import platform
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, ParamSpec

import typer

from benchproof.errors import BenchproofError, StoppedError, missing, told

P = ParamSpec("P")

#: Modules of this package (with a line below where the word is one of Python's own): the docstring
#: is the help, the result of `command` the exit status.
COMMANDS = (
    "init", "list", "compare", "try_", "rank", "run", "gate", "judge", "merge", "import_",
    "history", "changes", "bisect", "publish", "share", "doctor",
)  # fmt: skip
#: Commands whose `--json` took no file once; there, without one, it means standard output.
_JSON_ALONE = ("doctor", "publish", "share")


def help_of(module: ModuleType) -> str:
    """The docstring of a module; a mark tells the command-line library that examples are lines."""
    return str(module.__doc__).replace("\nExamples:", "\n\b\nExamples:")


def show_versions(wanted: bool) -> None:
    """Print the version and those of what measures, if that was asked for, and end."""
    if wanted:
        from benchproof.provenance import valgrind_version, version_of  # noqa: PLC0415  (--help is quick)

        absent = "not installed"
        typer.echo(f"benchproof {version_of('benchproof', absent)}")
        typer.echo(f"{platform.python_implementation()} {platform.python_version()}")
        typer.echo(f"valgrind {valgrind_version().removeprefix('valgrind-')}")
        typer.echo(f"memray {version_of('memray', absent)}")
        raise typer.Exit


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(help=help_of(sys.modules[__name__]))
def _root(
    _: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=show_versions,
            is_eager=True,
            help="Print the version, and those of what measures.",
        ),
    ] = False,
) -> None:
    """What stands before a command."""


def tells_errors(command: Callable[P, int], name: str) -> Callable[P, None]:
    """Turn what a person can mend into its lines on standard error, and exit with its status."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except BenchproofError as error:
            status = _complain(error)
        except ModuleNotFoundError as error:
            status = _complain(missing(error, f"benchproof {name}"))
        except OSError as error:
            status = _complain(told(error))
        except KeyboardInterrupt:
            status = _complain(StoppedError("stopped"))
        except Exception:  # noqa: BLE001  (Python's own status for it would say "regression")
            traceback.print_exc()
            status = _complain(BenchproofError(
                "that is a fault of benchproof itself: please report the lines above"
            ))  # fmt: skip
        raise typer.Exit(status)

    return wrapped


def _complain(error: BenchproofError) -> int:
    """Print an error; its exit status."""
    typer.secho(f"benchproof: {error}", err=True, fg="red")
    return error.exit_status


for _name in COMMANDS:
    _module = importlib.import_module(f".{_name}", __package__)
    _word = _name.rstrip("_")
    app.command(name=_word, help=help_of(_module))(tells_errors(_module.command, _word))


def run() -> int:
    """Run the command that `sys.argv` names; its exit status."""
    try:
        app(args=with_files(sys.argv[1:]), prog_name="benchproof")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def with_files(words: list[str]) -> list[str]:
    """The command line, with standard output named where an old `--json` has no file behind it."""
    if not words or words[0] not in _JSON_ALONE:
        return words
    found = []
    for word, after in zip(words, [*words[1:], "--"], strict=True):
        alone = word == "--json" and after.startswith("-") and after != "-"
        found += [word, "-"] if alone else [word]
    return found
