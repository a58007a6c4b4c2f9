"""What `benchproof changes` does: load the history, search it, choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchproof import suite
from benchproof.errors import BenchproofError, SelectionError
from benchproof.history import asv_files
from benchproof.targets import IMPLEMENTATIONS

from .listing import Choice
from .search import find_all

if TYPE_CHECKING:
    from pathlib import Path

    from benchproof.checkout import Checkout
    from benchproof.history.model import History
    from benchproof.progress import Teller

    from .model import Change

_KINDS = ("", "code", "platform")
_IMPLS = ("", *IMPLEMENTATIONS)


@dataclass(frozen=True)
class Asked:
    """What a person asks; as `Choice`, in words.

    Attributes:
        span: ``A..B``; "" for all commits.
        bench: an expression.
        meters: names.
        impl: of the implementation, or "".
        least: the smallest size, as a part of 1.
        kind: code, platform, or "".
        alpha: part of the list that may be false.
    """

    span: str
    bench: str
    meters: tuple[str, ...]
    impl: str
    least: float
    kind: str
    alpha: float


def run(
    asked: Asked, checkout: Checkout, folder: Path, cache: Path, tell: Teller
) -> tuple[History, list[Change]]:
    """The history, and those of its changes that were asked for.

    Raises:
        SelectionError: a choice that is none.
        BenchproofError: there is no history.
    """
    for option, value, known in (("kind", asked.kind, _KINDS), ("impl", asked.impl, _IMPLS)):
        if value not in known:
            raise SelectionError(f"--{option} {value!r}: choose {' or '.join(known[1:])}")
    pattern = suite.expression(asked.bench)
    if not folder.is_dir():
        raise BenchproofError(f"{folder} holds no history: measure one with `benchproof history`")
    history = asv_files.load(folder, checkout)
    for left in history.left_out:
        tell.line(f"left out: {left.file}: {left.why}")
    changes = find_all(history, asked.alpha, cache=cache, tell=tell)
    places = None
    if asked.span:
        wanted = set(checkout.ask("rev-list", "--first-parent", asked.span).split())
        places = {at for at, commit in enumerate(history.commits) if commit.hash in wanted}
    choice = Choice(pattern, asked.meters, asked.impl, asked.least, asked.kind, places)
    return history, choice.of(changes)
