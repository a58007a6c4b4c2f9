"""Where comparisons happen: a checkout, its suites, the cache of its builds, and what builds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .checkout import Checkout
    from .toolchain import Toolchain


@dataclass(frozen=True)
class Place:
    """Where comparisons happen.

    Attributes:
        checkout: of git, with the sides.
        suites: folder of the benchmark definitions, the same for both sides.
        cache: folder of built sides.
        toolchain: what builds them.
    """

    checkout: Checkout
    suites: Path
    cache: Path
    toolchain: Toolchain
