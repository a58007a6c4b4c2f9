"""The targets by name, what they are made of, and the inputs that were kept of them.

corpus.tar.xz      the inputs that reached something new, chosen by scripts/fuzz
finds/TARGET/...   the inputs that broke a rule once, each until the end of days
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fuzz import of_driver, of_harness
from mount import mount

import driver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus.tar.xz"
FINDS = HERE / "finds"


class Target(NamedTuple):
    """What is fuzzed.

    Attributes:
        make: the function that is called with bytes; of a list of drivers, or of nothing.
        seeds: inputs to begin with; of a driver, or of nothing.
        instrumented: the package that guides by its coverage.
    """

    make: Callable[..., Callable[[bytes], None]]
    seeds: Callable[..., Iterator[bytes]]
    instrumented: str

    @property
    def of_driver(self) -> bool:
        """Whether both implementations run it."""
        return self.instrumented == "driver_pure"

    def check(self) -> Callable[[bytes], None]:
        """The function, over all implementations that are there."""
        return self.make(drivers()) if self.of_driver else self.make()

    def first(self) -> Iterator[bytes]:
        """Its seeds."""
        return self.seeds(driver) if self.of_driver else self.seeds()


#: By name: the functions of a module, and `NAME_seeds` beside them.
TARGETS = {
    name: Target(getattr(module, name), getattr(module, f"{name}_seeds"), package)
    for module, package, names in (
        (of_driver, "driver_pure", ("decoder", "conversation", "types", "values", "schema")),
        (of_harness, "benchproof", ("records", "kept", "foreign", "documents")),
    )
    for name in names
}


def drivers() -> list[ModuleType]:
    """A pure driver, and the compiled one if this process has it."""
    pure = sys.modules.get("driver_pure") or mount("driver_pure", "python")
    return [pure, driver] if driver.IMPL == "cython" else [pure]


def corpus(name: str) -> list[bytes]:
    """What is kept of a target."""
    if not CORPUS.exists():
        return []
    with tarfile.open(CORPUS) as archive:
        mine = sorted(each for each in archive.getnames() if each.startswith(f"{name}/"))
        return [archive.extractfile(each).read() for each in mine]


def finds(name: str) -> list[Path]:
    """What broke a rule once."""
    return sorted((FINDS / name).glob("*"))
