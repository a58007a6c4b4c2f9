"""What changed between two sides in files that none of the measured variants runs."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from . import targets, variants
from .checkout import Checkout
from .errors import CANNOT_DECIDE, COULD_NOT_MEASURE, NO_REGRESSION, few

#: What a kind of file is called where it is told.
WORDS = {"pure": "pure Python", "compiled": "compiled"}


@dataclass(frozen=True)
class Unmeasured:
    """Files of the package that differ, and that nothing measured runs.

    Attributes:
        files: path to the kind of variant that would run it.
        all_of_it: whether nothing else of the package or its build differs.
        remedies: variants of the project that run them.
    """

    files: dict[str, str]
    all_of_it: bool
    remedies: tuple[str, ...] = ()

    def told(self) -> str:
        """One clause; empty if there is nothing to tell."""
        if not self.files:
            return ""
        words = ", ".join(WORDS[kind] for kind in sorted(set(self.files.values())))
        if self.remedies:
            remedy = " or ".join(f"--impl {name}" for name in (*self.remedies, "all"))
            words += f"; {remedy} measures it"
        return f"changed and not measured: {few(list(self.files))} ({words})"

    def qualify(self, verdict: dict[str, Any]) -> dict[str, Any]:
        """A verdict that does not hide it: "no regression" of what did not change is none."""
        if not self.files:
            return verdict
        found = verdict | {"summary": f"{verdict['summary']}; {self.told()}"}
        if self.all_of_it and verdict["exit"] in {NO_REGRESSION, CANNOT_DECIDE}:
            found |= {"status": "nothing that changed was measured", "exit": COULD_NOT_MEASURE}
        return found


def between(
    left: targets.Target, right: targets.Target, checkout: Checkout, measured: Collection[str]
) -> Unmeasured:
    """Look for it.

    Args:
        left: the base.
        right: the candidate.
        checkout: that holds both.
        measured: the kinds of what is measured; none where nothing is known of it.
    """
    if not measured or any(side.wheel or side.repository for side in (left, right)):
        return Unmeasured({}, all_of_it=False)
    before, after = (targets.files_of(checkout, side.read_from) for side in (left, right))
    changed = sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    known = frozenset(before) | frozenset(after)
    runs = variants.runs(changed, known, checkout.package)
    missed = {path: min(kinds) for path, kinds in runs.items() if not kinds & set(measured)}
    remedies = [each.name for each in checkout.variants
                if each.name and each.kind in missed.values()]  # fmt: skip
    return Unmeasured(missed, bool(changed) and len(missed) == len(changed), tuple(remedies))
