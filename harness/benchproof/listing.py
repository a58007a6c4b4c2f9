"""The benchmarks' names before anything is built, where their suites import without the package."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from . import worker
from .bench import environment, read_lines
from .package import name as import_name
from .processes import Crew

if TYPE_CHECKING:
    from .checkout import Checkout


def early(suites: Path, checkout: Checkout) -> list[dict[str, Any]] | None:
    """The benchmarks, as a worker without any side describes them.

    Args:
        suites: folder of the benchmark definitions.
        checkout: whose package must not be imported for it.

    Returns:
        None where the list cannot be had like this: a suite imports the package as it is loaded,
        or does not load. Then only a build can tell, and says what is wrong.
    """
    with TemporaryDirectory(prefix="benchproof-") as scratch, Crew() as crew:
        folder = Path(scratch).resolve()
        request = {
            "task": "list", "suites": str(suites.resolve()), "out": str(folder / "answers.jsonl"),
            "harness": str(Path(__file__).resolve().parent.parent),
            "package": import_name(checkout.package),
        }  # fmt: skip
        (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
        command = [sys.executable, "-P", worker.__file__, str(folder / "request.json")]
        child = crew.start(
            command, log=folder / "worker.log", cwd=folder, env=environment("python", None)
        )
        if crew.wait(child).status:
            return None
        return read_lines(folder / "answers.jsonl")
