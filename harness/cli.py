"""The command `hotpath`."""

from __future__ import annotations

import functools
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, ParamSpec

import typer
from rich.console import Console

from .errors import HotpathError, StoppedError, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from .compare import Place

app = typer.Typer(
    help="Measure what a change does to the hot paths of a CQL driver.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

COMPARE_HELP = """Compare two sides, benchmark by benchmark.

A side is a commit, branch or tag, or '.' for the working tree; '@impl:cython' or '@impl:python'
behind it chooses an implementation ('impl:python' alone means the working tree's).

\b
Examples:
  hotpath compare HEAD .                        what do my uncommitted edits do?
  hotpath compare main my-branch --bench bind   two branches, only the bind suite
  hotpath compare HEAD@impl:python HEAD@impl:cython
  hotpath compare HEAD HEAD --force             an A/A run: how noisy is this machine?
  hotpath compare HEAD~1 HEAD --meters instructions,allocations

Exit status: 0 no regression, 1 regression, 2 could not measure.
"""

RUN_HELP = """Measure HEAD: Cython against pure Python, HEAD against its parent; then the page.

Results go to reports/latest/, the page to reports/html/index.html; its path is printed last.
Only the comparison of commits can fail the job.

\b
Examples:
  hotpath run
  hotpath run --quick --bench routing_key

Exit status: 0 no regression, 1 regression, 2 could not measure.
"""

SHARE_HELP = """Tell which share of a whole benchmark each of its parts has.

Reads results, and measures nothing. Parts are the benchmarks that say so (`part_of`): in the suite
query_path, each hop of a request. What is in no part is a line of its own.

\b
Examples:
  hotpath share                                  of the last `hotpath run`
  hotpath compare HEAD@impl:python HEAD@impl:cython --bench query_path --json q.json
  hotpath share q.json --side right

Exit status: 0, or 2 if there are no such results.
"""

CLAIMS_HELP = """Measure published figures: each on the commit that carries its change.

The ledger (claims.toml) holds the figures. The commit of a row has the trailer 'Claim: ROW'; it is
measured against its parent, pure and compiled, and every figure gets a verdict: reproduced, smaller
than claimed, not reproduced, reversed, not measurable here, not measured (docs/claims.md).
Results are kept in reports/results/claims/; reports/claims.md and reports/html/claims.html are
written from all that are kept. A --quick run is a try: only the page shows it.

\b
Examples:
  hotpath claims                          every row of the ledger
  hotpath claims 799-1 805-7              two rows
  hotpath claims 799-1 --quick            a rough look
  hotpath claims 748-2 --impl cython --meters instructions,allocations,bytes
  hotpath claims --from reports/results/claims     judge again, without measuring
  hotpath claims --ledger mine.toml --suites bench/ --json mine.json.gz

Exit status: 0 every claim holds, at least in part; 1 one is not reproduced or reversed;
2 one could not be measured.
"""

P = ParamSpec("P")

Bench = Annotated[str, typer.Option(metavar="REGEX", help="Only benchmarks that match.")]
Budget = Annotated[
    float | None,
    typer.Option(min=1, metavar="SECONDS", help="Time for measuring, without builds."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Few processes: a rough wall time.")]
Seed = Annotated[int, typer.Option(help="Of the random order of processes and cases.")]
Committed = Annotated[
    bool, typer.Option("--committed", help="Measure HEAD although the working tree differs.")
]
Suites = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Benchmarks; default: asv_benchmarks/.")
]
Reports = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Default: reports/ of the checkout.")
]
Meters = Annotated[
    str, typer.Option(metavar="LIST", help="Of wall, instructions, allocations, bytes; or all.")
]


def tells_errors(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a person can mend into its lines on standard error, and exit with its status."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            status = command(*args, **kwargs)
        except HotpathError as error:
            status = _complain(error)
        except OSError as error:
            status = _complain(told(error))
        except KeyboardInterrupt:
            status = _complain(StoppedError("stopped"))
        raise typer.Exit(status)

    return wrapped


@app.command(name="compare", help=COMPARE_HELP)
@tells_errors
def compare_command(
    left: Annotated[str, typer.Argument(metavar="LEFT", help="The base.")],
    right: Annotated[str, typer.Argument(metavar="RIGHT", help="The candidate.")],
    bench: Bench = "",
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep everything, and raw samples beside.")
    ] = None,
    budget: Budget = None,
    meters: Meters = "all",
    quick: Quick = False,
    seed: Seed = 1,
    force: Annotated[
        bool, typer.Option("--force", help="Measure even if both sides are the same build.")
    ] = False,
    committed: Committed = False,
    suites: Suites = None,
) -> int:
    """Compare two sides."""
    from . import compare, table  # noqa: PLC0415  (scipy is slow to import, --help should not be)
    from .progress import telling  # noqa: PLC0415

    request = compare.Request(
        left, right, bench, chosen_meters(meters), _seconds(budget, quick=quick), quick, seed,
        force, committed,
    )  # fmt: skip
    with telling(Console(stderr=True)) as tell:
        outcome = compare.compare(request, _place(suites), tell)
    out = Console()
    if json is not None:
        outcome.save(json)
    table.show(outcome.document, out)
    return int(outcome.document["verdict"]["exit"])


@app.command(name="run", help=RUN_HELP)
@tells_errors
def run_command(
    bench: Bench = "",
    budget: Budget = None,
    meters: Meters = "all",
    quick: Quick = False,
    seed: Seed = 1,
    committed: Committed = False,
    suites: Suites = None,
    reports: Reports = None,
) -> int:
    """Run the main job."""
    from . import compare, job  # noqa: PLC0415  (as above)
    from .progress import telling  # noqa: PLC0415

    place = _place(suites)
    each = _seconds(budget / 2 if budget else None, quick=quick)
    request = compare.Request(
        "", "", bench, chosen_meters(meters), 2 * each, quick, seed, force=False,
        committed=committed,
    )  # fmt: skip
    with telling(Console(stderr=True)) as tell:
        return job.run(request, place, reports or place.checkout.root / "reports", tell, Console())


@app.command(name="share", help=SHARE_HELP)
@tells_errors
def share_command(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Of `hotpath compare --json`; default: those of the last `hotpath run`.",
        ),
    ] = None,
    side: Annotated[str, typer.Option(metavar="SIDE", help="left, right, or both.")] = "both",
    json: Annotated[bool, typer.Option("--json", help="JSON instead of the tables.")] = False,
) -> int:
    """Tell the shares."""
    from . import checkout, share  # noqa: PLC0415  (--help should be fast)

    if file is None:
        file = share.of_last_run(checkout.Checkout.around(Path.cwd()).root / "reports")
    found = share.shares(share.read(file), share.sides(side))
    out = Console()
    if json:
        out.print_json(data=found)
    else:
        share.show(found, out)
    return 0


@app.command(name="claims", help=CLAIMS_HELP)
@tells_errors
def claims_command(
    rows: Annotated[
        list[str] | None, typer.Argument(metavar="[ROW...]", help="Rows; all if none is named.")
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Default: claims.toml of the checkout.")
    ] = None,
    stored: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="Judge kept results (a file or a folder)."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep this run; '.gz' compresses it.")
    ] = None,
    budget: Budget = None,
    meters: Meters = "all",
    quick: Quick = False,
    impl: Annotated[
        str, typer.Option(metavar="NAME", help="python or cython; default: both.")
    ] = "both",
    seed: Seed = 1,
    suites: Suites = None,
    reports: Reports = None,
) -> int:
    """Measure published figures."""
    from .claims import command  # noqa: PLC0415  (as above)
    from .compare import Request  # noqa: PLC0415
    from .progress import telling  # noqa: PLC0415

    place = _place(suites)
    request = Request(
        "", "", meters=chosen_meters(meters), budget=budget or 0.0, quick=quick, seed=seed,
        committed=True,
    )  # fmt: skip
    asked = command.Asked(
        tuple(rows or ()), ledger or place.checkout.root / "claims.toml", command.impls(impl),
        request, reports or place.checkout.root / "reports", json, stored,
    )  # fmt: skip
    with telling(Console(stderr=True)) as tell:
        return command.run(asked, place, tell, Console())


@app.command(name="doctor")
@tells_errors
def doctor_command(
    json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
) -> int:
    """Say what this machine can and cannot measure, and what to do about it."""
    from .doctor import doctor_command as diagnose  # noqa: PLC0415

    return diagnose(json_output=json)


def chosen_meters(text: str) -> tuple[str, ...]:
    """Read the list of meters.

    Raises:
        SelectionError: it names none, or one that does not exist.
    """
    from .errors import SelectionError  # noqa: PLC0415
    from .meters import METERS  # noqa: PLC0415

    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return tuple(METERS)
    unknown = [name for name in names if name not in METERS]
    if unknown or not names:
        raise SelectionError(
            f"--meters {text!r}: choose from {', '.join(METERS)}"
            + (f", not {', '.join(unknown)}" if unknown else "")
        )
    return tuple(name for name in METERS if name in names)


def main() -> NoReturn:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _stop)
    app()
    sys.exit(0)


def _stop(number: int, frame: object) -> NoReturn:
    """Treat a request to terminate as Ctrl-C: workers end, results are kept."""
    del number, frame
    raise KeyboardInterrupt


def _place(suites: Path | None) -> Place:
    """The checkout around the current directory, with its suites and cache."""
    from . import checkout, compare, toolchain  # noqa: PLC0415

    here = checkout.Checkout.around(Path.cwd())
    cache = Path(os.environ.get("HOTPATH_CACHE") or here.root / ".hotpath").resolve()
    return compare.Place(here, suites or here.root / "asv_benchmarks", cache, toolchain.find())


def _seconds(budget: float | None, *, quick: bool) -> float:
    """The budget of one comparison."""
    from .compare import BUDGET, QUICK_BUDGET  # noqa: PLC0415

    return budget if budget is not None else QUICK_BUDGET if quick else BUDGET


def _complain(error: HotpathError) -> int:
    """Print an error; its exit status."""
    Console(stderr=True).print(
        f"hotpath: {error}", highlight=False, markup=False, soft_wrap=True, style="red"
    )
    return error.exit_status


if __name__ == "__main__":
    main()
