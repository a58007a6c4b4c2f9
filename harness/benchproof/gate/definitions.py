"""The benchmark definitions of both commits: the head's are run, the base's are listed.

Both sides are measured with the definitions of the head, so that a ratio never comes from a
benchmark that was edited. What only the base defines would vanish from the gate without a word:
it is listed, and excluded by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from benchproof.checkout import Checkout
    from benchproof.targets import Target


def of(target: Target, checkout: Checkout, suites: Path, folder: Path) -> Path | None:
    """The folder of the definitions as a side has them.

    Args:
        target: the side.
        checkout: that holds it.
        suites: the folder in the working tree; one outside of the checkout belongs to no commit.
        folder: for a copy.

    Returns:
        The folder itself where the side's content is the working tree's, a copy where it differs,
        None where the side has none.
    """
    suites, root = suites.resolve(), checkout.root.resolve()
    if target.is_working_tree or not target.commit or not suites.is_relative_to(root):
        return suites
    name = str(suites.relative_to(root))
    held = checkout.committed(target.commit, (name,))
    if held == checkout.working((name,)):
        return suites
    if not held:
        return None
    folder.mkdir(parents=True)
    checkout.export(target.commit, folder, name)
    return folder / name


def gone(base: Collection[str], head: Collection[str]) -> list[dict[str, str | None]]:
    """The benchmarks that only the base has, as the document names them.

    Args:
        base: names of its benchmarks.
        head: the same of the head.
    """
    return [
        {"name": name, "impl": None, "why": f"at the base but not at the head{_now(name, head)}"}
        for name in sorted(set(base) - set(head))
    ]


def _now(name: str, head: Collection[str]) -> str:
    """What a benchmark may be called now: the same function in another suite."""
    function = name.rpartition(".")[2]
    found = sorted(each for each in head if each.rpartition(".")[2] == function)
    return f" (renamed to {found[0]}?)" if len(found) == 1 else " (renamed or removed)"
