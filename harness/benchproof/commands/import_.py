"""Judge what Go, pyperf or asv measured: two sides, with verdicts and intervals.

KIND is go (what `go test -bench` prints), pyperf or asv (a result file). Two files are the left
side and the right one; with --right all FILEs are of the left side. Several files of a side are
several runs of it. Nothing is measured: a verdict is as good as the way in which both sides were.
With --history the files are of many commits, one each, and become a history in DIR; `changes`
and `publish` look for one in reports/results/asv.

Examples:
  go test -bench . -benchmem -count 10 ./... > old.txt     (then edit, and once more: new.txt)
  benchproof import go old.txt new.txt
  benchproof import go old.txt new.txt --records go.jsonl.gz; benchproof judge go.jsonl.gz --all
  benchproof import pyperf main.json.gz branch.json.gz --json -
  benchproof import asv old1.json old2.json --right new1.json --right new2.json
  benchproof import pyperf --history reports/results/asv *.json.gz; benchproof changes

Exit status: 0 no regression, 1 regression, 2 a file cannot be read, or nothing can be compared.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from benchproof.errors import NO_REGRESSION, SelectionError

from . import options
from .options import argument, flag, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchproof.foreign.readings import Reading
    from benchproof.plan import SideName


#: Whose files are read.
Kind = Literal["go", "pyperf", "asv"]


def command(
    kind: Annotated[Kind, argument("go, pyperf or asv.", "KIND")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", show_default=False)],
    right: Annotated[
        list[Path] | None, option("Of the right side; may be repeated.", "FILE")
    ] = None,
    skip: Annotated[bool, flag("Leave out lines that cannot be read.", "--skip-malformed")] = False,
    history: Annotated[
        Path | None, option("Keep files of many commits as a history.", "DIR")
    ] = None,
    records: options.Records = None,
    json: options.Json = None,
    everything: options.All = False,
) -> int:
    """Import and judge."""
    from benchproof.foreign import formats, readings  # noqa: PLC0415  (--help should be fast)

    read = partial(
        formats.read, kind, skipped=partial(typer.echo, err=True) if skip else None,
        hint=" (--skip-malformed leaves them out)",
    )  # fmt: skip
    if history is not None:
        if right or records is not None:
            raise SelectionError("--history keeps commits: there are no sides, and no records")
        runs = ((file, list(read([file]))) for file in files)
        return _keep(kind, runs, history, options.Output(json))
    if not right and len(files) != 2:
        raise SelectionError("two files are compared; --right FILE names more of the right side")
    named: dict[SideName, Sequence[Path]] = {
        "left": files if right else files[:1],
        "right": right or files[1:],
    }
    both = {side: read(each) for side, each in named.items()}
    samples = readings.samples(both, named, kind)
    status = options.Output(json).judged(samples, everything=everything, records=records)
    for row in samples.about["excluded"]:
        typer.echo(f"left out: {row['name']}: {row['why']}", err=True)
    return status


def _keep(
    kind: Kind, runs: Iterable[tuple[Path, Sequence[Reading]]], folder: Path, output: options.Output
) -> int:
    """Keep files of commits as a history.

    Raises:
        BenchproofError: a file cannot be read, or is of no commit.
    """
    from benchproof.checkout import Checkout  # noqa: PLC0415  (as above)
    from benchproof.foreign import histories  # noqa: PLC0415

    kept = histories.keep(kind, runs, folder, Checkout.around(Path.cwd()))
    for name, why in kept["left_out"].items():
        typer.echo(f"left out: {name}: {why}", err=True)
    said = f"{kept['numbers']} numbers of {len(kept['commits'])} commits are in {folder}"
    output.console().print(said, soft_wrap=True)
    output.keep({"schema": 1, "kind": "import", **kept})
    return NO_REGRESSION
