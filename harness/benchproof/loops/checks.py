"""The project's own tests on one state of it: a copy of its tree, with what was built beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from benchproof import variants
from benchproof.errors import BenchproofError
from benchproof.package import RECORD
from benchproof.processes import Crew

if TYPE_CHECKING:
    from benchproof.build import Built
    from benchproof.checkout import Place

#: Exit statuses of a shell that could not start a command.
_NOT_STARTED = (126, 127)
#: Lines of a failed test run that are shown.
LAST_LINES = 8


def run(
    command: str, commit: str, built: Built, place: Place, seconds: float
) -> tuple[str, ...] | None:
    """Run the tests of a commit: what they said last where they failed, None where they passed.

    Nothing of the user's tree is read or written.

    Args:
        command: as a shell reads it.
        commit: whose tests they are.
        built: the same commit.
        place: the checkout.
        seconds: after which they are ended, and have failed.

    Raises:
        BenchproofError: the command cannot be started.
    """
    with Crew() as crew:
        tree = crew.scratch / "tree"
        place.checkout.export(commit, tree)
        above = tree / Path(place.checkout.package).parent
        _add_built(Path(built.folder), above)
        env = variants.environment(built.variant, os.environ)
        paths = filter(None, [str(above), built.packages])
        programs = (sysconfig.get_path("scripts"), env.get("PATH", ""))
        child = crew.start(
            ["/bin/sh", "-c", command], log=crew.scratch / "tests.log", cwd=tree,
            env=env | {"PYTHONPATH": os.pathsep.join(paths), "PATH": os.pathsep.join(programs)},
        )  # fmt: skip
        try:
            child.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return (f"they took more than {seconds:.0f} s",)
        ended = crew.wait(child)
        said = tuple(ended.last_lines(LAST_LINES))
        if ended.status in _NOT_STARTED:
            raise BenchproofError(
                f"the tests cannot be run: {said[-1] if said else command}; --test names "
                "another command"
            )
        return said if ended.status else None


def _add_built(side: Path, above: Path) -> None:
    """Put what only a build makes (compiled modules, generated files) beside the sources."""
    for file in side.rglob("*"):
        inner = file.relative_to(side)
        about = inner.parts[0].endswith((".dist-info", ".whl")) or inner.parts[0] == RECORD
        if file.is_file() and not about and file.suffix != ".pyc":
            copy = above / inner
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy)
