"""`benchproof --version`: the version alone on its line, then what measures."""

from __future__ import annotations

import platform

import typer


def lines() -> list[str]:
    """The version, and those of what it measures with: Python, valgrind, memray."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  (--help is quick)

    from benchproof.provenance import valgrind_version  # noqa: PLC0415

    def installed(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "not installed"

    return [
        f"benchproof {installed('benchproof')}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"valgrind {valgrind_version().removeprefix('valgrind-')}",
        f"memray {installed('memray')}",
    ]


def show(wanted: bool) -> None:
    """Print it, if it was asked for, and end."""
    if wanted:
        for line in lines():
            typer.echo(line)
        raise typer.Exit
