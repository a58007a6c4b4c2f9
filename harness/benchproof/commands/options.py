"""Options that several commands share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from benchproof.compare import Place
    from benchproof.targets import Implementation

Bench = Annotated[str, typer.Option(metavar="REGEX", help="Only benchmarks that match.")]
Budget = Annotated[
    float | None,
    typer.Option(min=1, metavar="SECONDS", help="Wall time; exact meters always finish."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Measure even if both sides are the same build.")
]
Impl = Annotated[str, typer.Option(metavar="NAME", help="python or cython; default: both.")]
Quick = Annotated[bool, typer.Option("--quick", help="Few processes: a rough wall time.")]
Seed = Annotated[int, typer.Option(help="Of the random order of processes and cases.")]
All = Annotated[bool, typer.Option("--all", help="Show every benchmark, not what moved alone.")]
Committed = Annotated[
    bool, typer.Option("--committed", help="Measure HEAD although the working tree differs.")
]
Suites = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Benchmarks; default: asv's, or asv_benchmarks/.")
]
Reports = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Default: reports/ of the checkout.")
]
Meters = Annotated[
    str,
    typer.Option(
        metavar="LIST", help="Of wall, instructions, allocations, bytes, retained; all; exact."
    ),
]


def chosen_meters(text: str) -> tuple[str, ...]:
    """Read the list of meters.

    Raises:
        SelectionError: it names none, or one that does not exist.
    """
    from benchproof.errors import SelectionError  # noqa: PLC0415
    from benchproof.meters import METERS  # noqa: PLC0415

    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return tuple(METERS)
    if names == ["exact"]:
        return tuple(name for name, meter in METERS.items() if meter.exact)
    unknown = [name for name in names if name not in METERS]
    if unknown or not names:
        raise SelectionError(
            f"--meters {text!r}: choose from {', '.join(METERS)}"
            + (f", not {', '.join(unknown)}" if unknown else "")
        )
    return tuple(name for name in METERS if name in names)


def chosen_impls(text: str) -> tuple[Implementation, ...]:
    """Read the choice of implementations.

    Raises:
        SelectionError: it names none.
    """
    from benchproof.errors import SelectionError  # noqa: PLC0415
    from benchproof.targets import IMPLEMENTATIONS  # noqa: PLC0415

    if text not in {*IMPLEMENTATIONS, "both"}:
        raise SelectionError(f"--impl {text!r}: choose cython, python or both")
    return tuple(impl for impl in IMPLEMENTATIONS if text in {impl, "both"})


def place_of(suites: Path | None) -> Place:
    """The checkout around the current directory, with its suites and cache."""
    from benchproof import asv_conf, checkout, compare, files, toolchain  # noqa: PLC0415

    here = checkout.Checkout.around(Path.cwd())
    found = asv_conf.Found(suites, "") if suites else asv_conf.locate(here.root)
    if found.why:
        typer.echo(found.why, err=True)
    return compare.Place(here, found.folder, files.cache_of(here.root), toolchain.find())


def seconds(budget: float | None, *, quick: bool) -> float:
    """The budget of one comparison."""
    from benchproof.compare import BUDGET, QUICK_BUDGET  # noqa: PLC0415

    return budget if budget is not None else QUICK_BUDGET if quick else BUDGET
