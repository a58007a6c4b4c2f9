"""The line of commits that a history is about: git's first-parent log, with its trailers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchproof.errors import BenchproofError, HistoryError

from .model import Commit

if TYPE_CHECKING:
    from benchproof.checkout import Checkout

#: Between the fields of a commit, and after each commit: characters that no strip takes away.
_FIELD, _END = "\x01", "\x02"
_TRAILER = "%(trailers:key={},valueonly,separator=%x2c)"
_FORMAT = "%x01".join(
    ("%H", "%at", "%P", _TRAILER.format("Claim"), _TRAILER.format("Reverts-claim"), "%s%x02")
)


def read(checkout: Checkout, tip: str = "HEAD") -> list[Commit]:
    """The first-parent line behind a commit, oldest first; empty before the first commit."""
    if tip == "HEAD" and checkout.head() is None:
        return []
    text = checkout.ask("log", "--first-parent", f"--format={_FORMAT}", tip, "--")
    found = []
    for record in text.split(_END):
        if record.strip():
            name, date, parents, claims, reverts, subject = record.lstrip("\n").split(_FIELD, 5)
            found.append(
                Commit(name, int(date) * 1000, subject, _list(claims), _list(reverts),
                       tuple(parents.split()))
            )  # fmt: skip
    return found[::-1]


def chosen(checkout: Checkout, text: str) -> list[str]:
    """Hashes of a range as git writes it (``A..B``, ``B^!``, ``B``), newest first.

    Raises:
        HistoryError: it names nothing.
    """
    if text.startswith("-"):
        raise HistoryError(f"a range is a commit or two with '..' between them, not {text!r}")
    try:
        names = checkout.ask("rev-list", "--first-parent", text, "--").split()
    except BenchproofError as error:
        raise HistoryError(f"unknown range: {text!r} names no commits here") from error
    if not names:
        raise HistoryError(f"the range {text!r} holds no commit")
    return names


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
