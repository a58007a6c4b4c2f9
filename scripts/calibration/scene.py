"""What every campaign needs: where it measures, how long it may, and what it is stamped with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calibration.clock import Inside

if TYPE_CHECKING:
    from benchproof.compare import Place
    from benchproof.progress import Teller
    from calibration.clock import Clock
    from calibration.clone import Clone


@dataclass(frozen=True)
class Scene:
    """A campaign's surroundings.

    Attributes:
        clone: where commits are made.
        outside: the checkout that the command runs in, with suites, cache and toolchain.
        clock: ends the campaign early.
        stamp: goes into every row: the rules that decided, and the machine.
    """

    clone: Clone
    outside: Place
    clock: Clock
    stamp: dict[str, Any]

    @property
    def tell(self) -> Teller:
        """Hears what happens inside of the campaign's steps."""
        return Inside(self.clock)

    @property
    def place(self) -> Place:
        """The same place with the clone as its checkout; suites of the checkout are the clone's."""
        suites, root = self.outside.suites.resolve(), self.outside.checkout.root.resolve()
        if suites.is_relative_to(root):
            suites = self.clone.root / suites.relative_to(root)
        return replace(self.outside, checkout=self.clone.checkout, suites=suites)
