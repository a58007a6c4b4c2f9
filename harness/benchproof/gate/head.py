"""What the head's commit says about gates: its settings, its accepted regressions, its benchmarks.

All of it is read from the head, so that a pull request that loosens a rule shows that in its diff.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchproof import accepted, settings

from . import definitions

if TYPE_CHECKING:
    from benchproof.compare import Place
    from benchproof.settings import Settings
    from benchproof.targets import Target


@dataclass(frozen=True)
class Head:
    """The rules of one gate.

    Attributes:
        settings: `[tool.benchproof]`.
        entries: of the file of accepted regressions.
        suites: the folder of the benchmark definitions.
        whose: one line that says whose they are.
    """

    settings: Settings
    entries: tuple[accepted.Entry, ...]
    suites: Path
    whose: str


def read(target: Target, base: Target, place: Place, scratch: Path) -> Head:
    """Read the rules of a commit; those of the working tree, if that is the head.

    Args:
        target: the head.
        base: the base, whose benchmarks are run where the head has none.
        place: with the checkout.
        scratch: an empty folder for copies.

    Raises:
        SettingsError: a setting cannot be meant.
        AcceptedError: an entry breaks a rule.
        TargetError: there are no benchmarks.
    """
    commit = None if target.is_working_tree else target.commit
    text = place.checkout.read(commit, settings.FILE).decode(errors="replace")
    chosen = settings.parse(text)
    scratch.mkdir()
    copy = scratch / Path(chosen.accepted).name
    copy.write_bytes(place.checkout.read(commit, chosen.accepted))
    entries = accepted.load(copy)
    order = (("the head", target), ("the base", base), ("the working tree", None))
    suites, whose = definitions.choose(order, place.checkout, place.suites, scratch)
    return Head(chosen, tuple(entries), suites, whose)
