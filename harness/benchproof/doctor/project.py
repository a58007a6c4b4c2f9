"""The project: the checkout that is measured, and what a build of it would give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchproof import package, targets
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError

from .finding import COMMITS, COMPILED, MAIN_JOB, Finding, ok
from .tools import install

if TYPE_CHECKING:
    from benchproof.toolchain import Toolchain

#: Asked of a package that has two implementations; another has one, and names none.
_ASK = """
import importlib, importlib.util, sys
name = sys.argv[1]
package = importlib.import_module(name)
if importlib.util.find_spec(name + ".implementation"):
    package = importlib.import_module(name + ".implementation")
print(getattr(package, "IMPL", "one implementation"))
print(getattr(package, "REASON", "no IMPL"))
"""
_SECONDS = 30


def check(place: Path, toolchain: Toolchain) -> list[Finding]:
    """All findings about the checkout around a place."""
    try:
        checkout = Checkout.around(place)
    except BenchproofError as error:
        remedy = "run it in a git clone of the project"
        if "git is not installed" in str(error):
            remedy = install("git")
        return [Finding("checkout", "missing", str(error), remedy, (MAIN_JOB,))]
    return [
        history(checkout),
        changes(checkout),
        implementation(checkout.root, toolchain),
    ]


def history(checkout: Checkout) -> Finding:
    """Whether HEAD and its parent are here."""
    head = checkout.head()
    if head is None:
        return Finding(
            "history", "missing", "no commit yet", "commit first: HEAD is measured", (MAIN_JOB,)
        )
    detail = f"HEAD is {head[:10]}"
    if checkout.parent(head):
        shallow = ", a shallow clone" if checkout.is_shallow() else ""
        return ok("history", f"{detail}, its parent is here{shallow}")
    if checkout.is_shallow():
        return Finding(
            "history",
            "degraded",
            f"{detail}, its parent was cut off: the clone is shallow",
            "git fetch --deepen=50",
            (COMMITS,),
        )
    return Finding(
        "history", "degraded", f"{detail}, the first commit: it has no parent", "", (COMMITS,)
    )


def changes(checkout: Checkout) -> Finding:
    """Whether the driver in the working tree is the one that HEAD names."""
    if checkout.head() is None:
        return ok("changes", "nothing to differ from")
    try:
        head = targets.resolve(targets.parse("HEAD"), checkout)
        targets.refuse_dirty((head,), checkout)
    except BenchproofError as error:
        return Finding(
            "changes",
            "missing",
            str(error).splitlines()[0],
            "commit or stash them, or: benchproof run --committed",
            (MAIN_JOB,),
        )
    return ok("changes", "the driver of the working tree is HEAD's")


def implementation(root: Path, toolchain: Toolchain) -> Finding:
    """What a build would give, and what an import from the working tree gives now."""
    wanted = os.environ.get("DRIVER_BUILD", "auto")
    now = _imported(root)
    if wanted == "python":
        return Finding(
            "implementation",
            "degraded",
            f"a build gives pure Python (DRIVER_BUILD=python); now: {now}",
            "unset DRIVER_BUILD",
            (COMPILED,),
        )
    if not toolchain.compiles:
        return Finding(
            "implementation",
            "degraded",
            f"a build gives pure Python; now: {now}",
            "mend the compiler",
            (COMPILED,),
        )
    return ok("implementation", f"a build gives Cython; the working tree now: {now}")


def _imported(root: Path) -> str:
    """The implementation that a process of its own gets from the working tree."""
    place = package.place(root)
    name = package.name(place)
    try:
        answer = subprocess.run(  # noqa: S603  (this interpreter, our own line)
            [sys.executable, "-c", _ASK, name],
            cwd=Path(root, place).parent,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the driver could not be asked ({error})"
    if answer.returncode:
        lines = answer.stderr.strip().splitlines()
        return f"import {name} fails ({lines[-1] if lines else answer.returncode})"
    name, _, reason = answer.stdout.strip().partition("\n")
    return f"{name}, {reason}"
