"""What a module of the ``cassandra`` package is made of here: a table of names, and its grammar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Target(NamedTuple):
    """Where a served name lives.

    Attributes:
        module: a module of this driver, relative to the package: ``"cluster.session"``.
        name: its name there.
    """

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class Served:
    """One module of the ``cassandra`` package.

    Attributes:
        names: public name -> where it lives.
        behind: modules of this driver that stand behind the whole module. Names that the table
            does not list (a module's logger, ``time``, private names) are looked for there, and
            patched there.
        file: the file of the table, which becomes the ``__file__`` of the served module.
        is_package: whether it has modules of its own.
    """

    names: Mapping[str, Target]
    behind: tuple[str, ...]
    file: str = __file__
    is_package: bool = False


def serve(
    names: Mapping[str, str],
    *,
    behind: tuple[str, ...] = (),
    is_package: bool = False,
) -> Served:
    """Read a table.

    Args:
        names: module of this driver -> public names, separated by white space. A name that is
            called otherwise here is written ``theirs=ours``.
        behind: see ``Served``.
        is_package: see ``Served``.

    Raises:
        ValueError: a name is served from two places.
    """
    found: dict[str, Target] = {}
    for module, words in names.items():
        for word in words.split():
            theirs, _, ours = word.partition("=")
            if theirs in found:
                raise ValueError(f"{theirs} is served from {found[theirs].module} and {module}")
            found[theirs] = Target(module, ours or theirs)
    return Served(found, behind, is_package=is_package)
