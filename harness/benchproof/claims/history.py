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

    from .ledger import Ledger, Row

#: Between the fields of a commit, and after each commit: characters that no strip takes away.
_FIELD, _END = "\x01", "\x02"
_TRAILER = "%(trailers:key={},valueonly,separator=%x2c)"
_FIELDS = ("%H", "%P", "%s", _TRAILER.format("Claim"), _TRAILER.format("Reverts-claim"), "%b%x02")
_FORMAT = "%x01".join(_FIELDS)
_REVERTED = re.compile(r"This reverts commit ([0-9a-f]{7,64})")


@dataclass(frozen=True)
class Commit:
    """What the history says of one commit.

    Attributes:
        id: its hash.
        parent: the first parent's hash, or "".
        subject: its message's first line.
        claims: the rows that it carries.
        reverts: the rows that it takes back.
        reverted: the commits that it reverts, as git wrote it.
    """

    id: str
    parent: str
    subject: str
    claims: tuple[str, ...]
    reverts: tuple[str, ...]
    reverted: tuple[str, ...]


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


def log(checkout: Checkout) -> list[Commit]:
    """All commits that HEAD has behind it, newest first."""
    text = checkout.ask("log", f"--format={_FORMAT}", "HEAD")
    found = []
    for record in text.split(_END):
        if not record.strip():
            continue
        commit, parents, subject, claims, reverts, body = record.lstrip("\n").split(_FIELD, 5)
        parent = parents.split()[0] if parents else ""
        reverted = tuple(_REVERTED.findall(body))
        found.append(Commit(commit, parent, subject, _list(claims), _list(reverts), reverted))
    return found


def find(rows: Sequence[Row], ledger: Ledger, checkout: Checkout) -> dict[str, Carried]:
    """Where each row is."""
    commits = log(checkout)
    return {
        row.id: (_sum(row, commits, checkout, ledger) if row.of else _single(row.id, commits)[0])
        for row in rows
    }


def _single(row: str, commits: Sequence[Commit]) -> tuple[Carried, list[int]]:
    """A row of one commit; and the places in the log of that and of what took it back."""
    carrying = [at for at, commit in enumerate(commits) if row in commit.claims]
    if not carrying:
        return Carried(why="no commit carries it"), []
    takers = {at: _takers(row, at, commits) for at in carrying}
    standing = [at for at in carrying if not takers[at]]
    if len(standing) > 1:
        names = ", ".join(commits[at].id[:10] for at in standing)
        return Carried(why=f"{len(standing)} commits carry it, and a row is one: {names}"), []
    at = standing[0] if standing else carrying[0]
    commit, back = commits[at], takers[at]
    why = "" if commit.parent else "its commit has no parent to be measured against"
    taken_back = tuple(commits[taker].id for taker in back)
    where = Carried(commit.parent, commit.id, commit.subject, taken_back, why=why)
    return where, [at, *back]


def _takers(row: str, at: int, commits: Sequence[Commit]) -> list[int]:
    """The places of the commits that took back the row's commit at a place."""
    found = []
    for newer in range(at - 1, -1, -1):
        other = commits[newer]
        by_name = any(commits[at].id.startswith(name) for name in other.reverted)
        newest = next(i for i in range(newer + 1, at + 1) if row in commits[i].claims)
        if by_name or (row in other.reverts and newest == at):
            found.append(newer)
    return found


def _sum(row: Row, commits: Sequence[Commit], checkout: Checkout, ledger: Ledger) -> Carried:
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
    members = {commits[at].id for at in places}
    if _foreign(checkout, f"{first.parent}..{last.id}", commits, members):
        return Carried(apart=tuple(standing))
    return Carried(first.parent, last.id, last.subject)


def _foreign(
    checkout: Checkout, span: str, commits: Sequence[Commit], own: Collection[str]
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
    parents = {commit.id: commit.parent for commit in commits}
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


def _list(text: str) -> tuple[str, ...]:
    return tuple(value.strip() for value in text.split(",") if value.strip())
