"""Which commit carries a row, and whether it was taken back: the trailers of git's history.

========================  ====================================================================
``Claim: 805-7``          this commit is the row; several rows: several lines, or commas
``Reverts-claim: 805-7``  this commit takes the row back: the newest commit before it that
                          carries the row
``This reverts commit …``  what `git revert` writes does the same for the commit that it names
========================  ====================================================================

Only trailers count (the last paragraph of a message, as `git interpret-trailers` reads it). A row
that was taken back stays in the ledger and is measured on its own commit; a row that stands must be
one commit, so two that both stand are an error of the history, and are told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchproof.targets import content_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from benchproof.checkout import Checkout

    from .figures import Ledger, Row


#: What `git revert` writes.
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


@dataclass(frozen=True)
class Carried:
    """Where a row is in the history.

    Attributes:
        left: the commit before it, or "".
        right: the commit that carries it (the last one, of a sum of rows), or "".
        subject: of that commit.
        taken_back: the commits that took it back.
        apart: of a sum, its rows that must be measured one by one, because commits that belong to
            none of them lie between; then there is no left and no right.
        why: why it cannot be measured, or "".
    """

    left: str = ""
    right: str = ""
    subject: str = ""
    taken_back: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class _Commit:
    """A commit, with the rows and the commits that its message names."""

    hash: str
    parent: str
    subject: str
    claims: frozenset[str]
    reverts: frozenset[str]
    reverted: tuple[str, ...]


def _log(checkout: Checkout) -> list[_Commit]:
    """All commits behind HEAD, newest first."""
    trailers = (f"%(trailers:key={key},valueonly,separator=%x2c)"
                for key in ("Claim", "Reverts-claim"))  # fmt: skip
    form = "%x01".join(("%H", "%P", "%s", *trailers, "%b%x02"))
    text = checkout.ask("log", f"--format={form}") if checkout.head() else ""
    found = []
    for record in filter(str.strip, text.split("\x02")):
        name, parents, subject, *rows, body = record.lstrip("\n").split("\x01", 5)
        claims, reverts = (frozenset(part.strip() for part in each.split(",")) for each in rows)
        parent = parents.partition(" ")[0]
        found.append(
            _Commit(name, parent, subject, claims, reverts, tuple(_REVERTED.findall(body)))
        )
    return found


def find(rows: Sequence[Row], ledger: Ledger, checkout: Checkout) -> dict[str, Carried]:
    """Where each row is."""
    commits = _log(checkout)
    return {
        row.id: (_sum(row, commits, checkout, ledger) if row.of else _single(row.id, commits)[0])
        for row in rows
    }


def _single(row: str, commits: Sequence[_Commit]) -> tuple[Carried, list[int]]:
    """A row of one commit; and the places in the log of that and of what took it back."""
    carrying = [at for at, commit in enumerate(commits) if row in commit.claims]
    if not carrying:
        return Carried(why="no commit carries it"), []
    takers = {at: _takers(row, at, commits) for at in carrying}
    standing = [at for at in carrying if not takers[at]]
    if len(standing) > 1:
        names = ", ".join(commits[at].hash[:10] for at in standing)
        return Carried(why=f"{len(standing)} commits carry it, and a row is one: {names}"), []
    at = standing[0] if standing else carrying[0]
    commit, back = commits[at], takers[at]
    why = "" if commit.parent else "its commit has no parent to be measured against"
    taken_back = tuple(commits[taker].hash for taker in back)
    where = Carried(commit.parent, commit.hash, commit.subject, taken_back, why=why)
    return where, [at, *back]


def _takers(row: str, at: int, commits: Sequence[_Commit]) -> list[int]:
    """The places of the commits that took back the row's commit at a place."""
    found = []
    for newer in range(at - 1, -1, -1):
        other = commits[newer]
        by_name = any(commits[at].hash.startswith(name) for name in other.reverted)
        newest = next(i for i in range(newer + 1, at + 1) if row in commits[i].claims)
        if by_name or (row in other.reverts and newest == at):
            found.append(newer)
    return found


def _sum(row: Row, commits: Sequence[_Commit], checkout: Checkout, ledger: Ledger) -> Carried:
    """The rows of a page together: from before the first commit to after the last, if it can be."""
    places: list[int] = []
    standing: list[str] = []
    lacking = []
    for part in row.of:
        if part in ledger.rows:
            carried, own = _single(part, commits)
            places += own
            if carried.why:
                lacking.append(f"{part}: {carried.why}")
            elif not carried.taken_back:
                standing.append(part)
    if lacking:
        return Carried(why="; ".join(lacking))
    first, last = commits[max(places)], commits[min(places)]
    if not first.parent:
        return Carried(why="its first commit has no parent to be measured against")
    members = {commits[at].hash for at in places}
    if _foreign(checkout, f"{first.parent}..{last.hash}", commits, members):
        return Carried(apart=tuple(standing))
    return Carried(first.parent, last.hash, last.subject)


def _foreign(
    checkout: Checkout, span: str, commits: Sequence[_Commit], own: Collection[str]
) -> list[str]:
    """The commits of a span that change what is built and belong to none of the rows.

    A change that the commits right after it take back to the letter, before a row's commit comes,
    counts for nothing: what is built is the same with and without them.

    Args:
        checkout: whose history.
        span: as git writes a range.
        commits: the log.
        own: hashes of the commits of the rows, and of those that took one back.
    """
    parents = {commit.hash: commit.parent for commit in commits}
    found: list[str] = []
    run: list[str] = []
    before = ""
    for commit in checkout.ask("rev-list", "--reverse", "--topo-order", span).split():
        old, new = (content_of(checkout, each) for each in (parents[commit], commit))
        if commit in own:
            found, run = found + run, []
        elif old != new:
            before = before if run else old
            run = [] if new == before else [*run, commit]
    return found + run
