"""Which implementations a project has: read from its sources, so that nothing is built to know it.

A build is asked for one of them by the variable DRIVER_BUILD. A project whose build reads it has
both, another one has what its build gives: compiled where it holds sources to compile, else pure.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .targets import IMPLEMENTATIONS, Implementation

if TYPE_CHECKING:
    from .checkout import Checkout

#: The variable, and the files that may read it.
_ASKED_BY, _BUILD_FILES = b"DRIVER_BUILD", ("setup.py", "pyproject.toml", "meson.build")
#: What only a compiler reads.
COMPILED_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".f90", ".pxd", ".pxi", ".pyx", ".rs")
#: A build file that makes extensions of sources outside of the package, or of Python itself.
_COMPILES = (b"mypycify", b"ext_modules", b"cythonize", b"maturin", b"setuptools-rust", b"mesonpy",
             b"scikit_build_core")  # fmt: skip


def of(checkout: Checkout, *commits: str | None) -> tuple[Implementation, ...]:
    """The implementations that some states of a project have.

    Args:
        checkout: that holds them.
        commits: hashes; None is the working tree.
    """
    found: set[Implementation] = set()
    for commit in commits:
        found |= _of_one(checkout, commit)
    return tuple(impl for impl in IMPLEMENTATIONS if impl in found)


def _of_one(checkout: Checkout, commit: str | None) -> set[Implementation]:
    build = b"\n".join(checkout.read(commit, name) for name in _BUILD_FILES)
    if _ASKED_BY in build:
        return set(IMPLEMENTATIONS)
    paths = (checkout.package or ".",)
    files = checkout.working(paths) if commit is None else checkout.committed(commit, paths)
    compiled = any(name.endswith(COMPILED_SOURCES) for name in files)
    if compiled or any(word in build for word in _COMPILES):
        return {"cython"}
    return {"python"}


def running(path: str, files: frozenset[str]) -> set[Implementation]:
    """The implementations in which a file of the package is part of what runs.

    Args:
        path: of the file.
        files: all files of the package, in which a compiled form of a module may stand: beside it,
            or at the same place below a folder `_cython`.
    """
    place = PurePosixPath(path)
    if place.suffix in COMPILED_SOURCES or "_cython" in place.parts:
        return {"cython"}
    if place.suffix != ".py":
        return set(IMPLEMENTATIONS)
    parts = place.with_suffix("").parts
    forms = [PurePosixPath(*parts)] + [
        PurePosixPath(*parts[:at], "_cython", *parts[at:]) for at in range(1, len(parts))
    ]
    compiled = any(f"{form}{suffix}" in files for form in forms for suffix in COMPILED_SOURCES)
    return {"python"} if compiled else set(IMPLEMENTATIONS)
