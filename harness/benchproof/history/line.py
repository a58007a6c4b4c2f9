"""Commits as git's log has them, with trailers: those of a history are the first-parent line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from benchproof.errors import BenchproofError, HistoryError

from .model import Commit

if TYPE_CHECKING:
    from benchproof.checkout import Checkout

#: Between the fields of a commit, and after each commit: characters that no strip takes away.
_FIELD, _END = "\x01", "\x02"
_TRAILER = "%(trailers:key={},valueonly,separator=%x2c)"
_FORMAT = "%x01".join(
    ("%H", "%at", "%P", _TRAILER.format("Claim"), _TRAILER.format("Reverts-claim"), "%s", "%b%x02")
)
#: What `git revert` writes.
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


def read(checkout: Checkout, tip: str = "HEAD", *, all_parents: bool = False) -> list[Commit]:
    """The first-parent line behind a commit, oldest first; empty before the first commit.

    Args:
        checkout: whose commits.
        tip: the newest.
        all_parents: everything behind it, not the line alone.
    """
    if tip == "HEAD" and checkout.head() is None:
        return []
    which = () if all_parents else ("--first-parent",)
    text = checkout.ask("log", *which, f"--format={_FORMAT}", tip, "--")
    found = []
    for record in text.split(_END):
        if record.strip():
            name, date, parents, claims, reverts, subject, body = record.lstrip("\n").split(
                _FIELD, 6
            )
            found.append(
                Commit(name, int(date) * 1000, subject, _list(claims), _list(reverts),
                       tuple(parents.split()), tuple(_REVERTED.findall(body)))
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
