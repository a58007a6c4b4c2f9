"""In a worker: which files of the measured package ran in a call, and what the call answered.

For a benchmark that has no proof of its own, and to tell whether both sides run the same code.
Python functions, and C functions that Python calls,
are seen by a profile function. What runs inside of a compiled module is seen by the pages of its
file that the processor fetched: Linux forgets on request which those were (proc(5), `clear_refs`)
and tells which there have been since (`smaps`, "Referenced").
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import threading
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .asv_suite import Ready

COMPILED = tuple(EXTENSION_SUFFIXES)
_MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ ..(.). \S+ \S+ \S+ +(/.*)")
_PROCESS = Path("/proc/self")
_FORGET = _PROCESS / "clear_refs"


def see(made: Ready, side: Path, package: str) -> dict[str, Any]:
    """Call a benchmark and tell what of the package ran in the second call.

    Args:
        made: the benchmark, set up.
        side: the folder that the package must run from.
        package: its name.

    Raises:
        AssertionError: a part of the package ran from elsewhere.
    """
    first = digest(made.call())  # what is made once and kept is not what a loop takes
    made.renew()
    seen: set[str] = set()
    with watching(seen, side, package):
        answer = digest(made.call())
    made.renew()
    # With the folder's own links: the interpreter names files as sys.path does.
    folder, ran = side.resolve(), {}
    for file in sorted(seen):
        place = Path(file).resolve()
        if not place.is_relative_to(folder):
            raise AssertionError(f"{package} ran from {file}, which is not this side's")
        inside = place.relative_to(folder)
        name = ".".join((*inside.parent.parts, inside.name.partition(".")[0]))
        ran[name.removeprefix(f"{package}.")] = str(inside)
    return {
        "grade": "witnessed" if ran else "unseen",
        "modules": ran,
        "probe": {},
        "digest": answer if answer == first else "",
    }


def code(made: Ready, side: Path, package: str) -> str:
    """A hash of the files of the package that a benchmark's setup and a call of it run.

    Where both sides have the same one, they run the same code, so that no clock has to decide.

    Args:
        made: the benchmark, set up.
        side: the folder that the package runs from.
        package: its name.

    Returns:
        Empty where not all that runs is seen: a `setup_cache` runs elsewhere, and what runs inside
        of compiled modules is told by Linux alone.
    """
    if made.prepared is None or not os.access(_FORGET, os.W_OK):
        return ""
    seen = set(made.prepared)
    made.benchmark.do_teardown()
    with watching(seen, side, package):
        made.benchmark.do_setup()
        made.call()
    folder, found = side.resolve(), hashlib.sha256()
    for place in sorted(Path(file).resolve() for file in seen):
        inside = place.relative_to(folder) if place.is_relative_to(folder) else place
        found.update(f"{inside}\0".encode() + hashlib.sha256(place.read_bytes()).digest())
    return found.hexdigest() if seen else ""


@contextlib.contextmanager
def watching(seen: set[str], side: Path, package: str) -> Iterator[None]:
    """Add the files that run of a package in a folder."""
    with _profiled(seen, package, side), _fetched(seen, side):
        yield


@contextlib.contextmanager
def _profiled(seen: set[str], package: str, side: Path) -> Iterator[None]:
    """Add the files of the package whose functions are called, and others that come with it."""
    codes: set[tuple[Any, str]] = set()
    named: set[str] = set()

    def profile(frame: Any, event: str, about: Any) -> None:  # noqa: ANN401  (any object)
        if event == "call":
            codes.add((frame.f_globals.get("__name__"), _file_of(frame)))
        elif event == "c_call":
            owner = getattr(about, "__self__", None)
            named.add(getattr(about, "__module__", None) or type(owner).__module__)

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    seen |= {
        file for name, file in codes
        if (_inside(name, package) or Path(file).is_relative_to(side)) and Path(file).is_file()
    }  # fmt: skip
    for name in named:
        file = getattr(sys.modules.get(str(name)), "__file__", None)
        if _inside(name, package) and str(file).endswith(COMPILED):
            seen.add(str(file))


def _file_of(frame: Any) -> str:  # noqa: ANN401  (any frame)
    """The file that a function ran from.

    Compiled modules that tell profilers of their functions, as Cython's do if they were built for
    it, name the source that they were made from: a path that may lead to the checkout.
    """
    module = str(frame.f_globals.get("__file__"))
    return module if module.endswith(COMPILED) else str(frame.f_code.co_filename)


def _inside(name: object, package: str) -> bool:
    """Whether a module is the package's."""
    return isinstance(name, str) and (name == package or name.startswith(f"{package}."))


@contextlib.contextmanager
def _fetched(seen: set[str], side: Path) -> Iterator[None]:
    """Add the compiled modules below a folder whose code the processor fetched."""
    try:
        _FORGET.write_text("1")
        # A page is marked where its address is looked up, not while the processor still remembers
        # that: this has it forget, too, or code that ran before would not be seen.
        _FORGET.write_text("4")
    except OSError:  # not Linux, or a kernel or container without it
        yield
        return
    yield
    code = ""
    for line in (_PROCESS / "smaps").read_text(errors="replace").splitlines():
        if found := _MAPPING.fullmatch(line):
            code = found[2] if found[1] == "x" and Path(found[2]).is_relative_to(side) else ""
        elif code.endswith(COMPILED) and line.startswith("Referenced:") and line.split()[1] != "0":
            seen.add(code)


def digest(answer: object) -> str:
    """A hash of what a call returned; empty where it is nothing, or no plain data."""
    if answer is None:
        return ""
    try:
        return hashlib.sha256(repr(_plain(answer)).encode(errors="surrogatepass")).hexdigest()
    except (TypeError, RecursionError):
        return ""


def _plain(value: Any) -> object:  # noqa: ANN401  (any object)
    """A value made of Python's own types alone, in a form whose `repr` is the same everywhere.

    Raises:
        TypeError: it holds something else.
    """
    kind = type(value)
    if value is None or kind in {bool, int, float, complex, str, bytes, bytearray}:
        return value
    if kind in {list, tuple}:
        return kind.__name__, [_plain(each) for each in value]
    if kind in {set, frozenset}:
        return kind.__name__, sorted(repr(_plain(each)) for each in value)
    if kind is dict:
        return kind.__name__, [(_plain(key), _plain(each)) for key, each in value.items()]
    raise TypeError(kind.__name__)
