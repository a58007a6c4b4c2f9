"""Write the few lines that a project needs to be measured, from what is found in it.

That is [tool.benchproof] in pyproject.toml with the package and the folder of benchmarks; a first
benchmark that runs, if there is none; with --workflow, a GitHub workflow that gates pull requests.
Nothing that exists is overwritten. Put a real call into the first benchmark; then
`benchproof compare HEAD .` measures what you edit, and with --force the same build twice.

Examples:
  benchproof init --dry-run        what would be written?
  benchproof init
  benchproof init --workflow       and a gate for pull requests
  benchproof init --package src/acme --suites benchmarks

Exit status: 0 written, or nothing to write; 2 it is not clear what is to be measured.
"""

from pathlib import Path
from typing import Annotated

from .options import Json, Output, flag, option


def command(
    package: Annotated[str, option("Folder of the package; default: what is found.", "DIR")] = "",
    suites: Annotated[str, option("Folder of the benchmarks; default: what is found.", "DIR")] = "",
    workflow: Annotated[
        bool, flag("Write .github/workflows/benchproof.yml, too.", "--workflow")
    ] = False,
    dry_run: Annotated[bool, flag("Only show what would be written.", "--dry-run")] = False,
    json: Json = None,
) -> int:
    """Set a project up."""
    from benchproof.checkout import Checkout  # noqa: PLC0415  (--help should be fast)
    from benchproof.grids import tell_line  # noqa: PLC0415
    from benchproof.init.plan import plan  # noqa: PLC0415

    root = Checkout.around(Path.cwd()).root
    planned = plan(root, package, suites, workflow=workflow)
    if not dry_run:
        planned.write()
    output = Output(json)
    output.keep(planned.document(dry_run=dry_run))
    console = output.console()
    for line in planned.lines(dry_run=dry_run):
        tell_line(console, line)
    return 0
