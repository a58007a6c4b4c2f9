"""Write the few lines that a project needs to be measured, from what is found in it.

That is [tool.benchproof] in pyproject.toml with the package and the folder of benchmarks; a first
benchmark that runs, if there is none; with --workflow, a GitHub workflow that gates pull requests.
Nothing that exists is overwritten. Afterwards `benchproof compare HEAD .` measures.

Examples:
  benchproof init --dry-run        what would be written?
  benchproof init
  benchproof init --workflow       and a gate for pull requests
  benchproof init --package src/acme --suites benchmarks

Exit status: 0 written, or nothing to write; 2 it is not clear what is to be measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import options


def command(
    package: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of the package; default: what is found.")
    ] = "",
    suites: Annotated[
        str, typer.Option(metavar="DIR", help="Folder of the benchmarks; default: what is found.")
    ] = "",
    workflow: Annotated[
        bool, typer.Option("--workflow", help="Write .github/workflows/benchproof.yml, too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be written.")
    ] = False,
    json: options.Json = None,
) -> int:
    """Set a project up."""
    from benchproof.checkout import Checkout  # noqa: PLC0415  (--help should be fast)
    from benchproof.grids import tell_line  # noqa: PLC0415
    from benchproof.init.plan import plan  # noqa: PLC0415

    root = Checkout.around(Path.cwd()).root
    planned = plan(root, package, suites, workflow=workflow)
    if not dry_run:
        planned.write()
    output = options.Output(json)
    output.keep(planned.document(dry_run=dry_run))
    console = output.console()
    for line in planned.lines(dry_run=dry_run):
        tell_line(console, line)
    return 0
