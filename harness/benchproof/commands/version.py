"""`benchproof --version`: the version alone on its line, then what measures."""

from __future__ import annotations

import platform

import typer


def lines() -> list[str]:
    """The version, and those of what it measures with: Python, valgrind, memray."""
    from benchproof.provenance import valgrind_version, version_of  # noqa: PLC0415  (--help is quick)

    absent = "not installed"
    return [
        f"benchproof {version_of('benchproof', absent)}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"valgrind {valgrind_version().removeprefix('valgrind-')}",
        f"memray {version_of('memray', absent)}",
    ]


def show(wanted: bool) -> None:
    """Print it, if it was asked for, and end."""
    if wanted:
        for line in lines():
            typer.echo(line)
        raise typer.Exit
