"""Where this project stands: the newest commit at which its gate passed, kept in the repository.

With what was accepted there: to record a pass makes a regression part of the base, not forgotten.
"""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import accepted, files, results, targets
from benchproof.errors import BenchproofError, TargetError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchproof.accepted import Entry
    from benchproof.checkout import Checkout

#: Below the reports.
FILE = "gate/passed.json"
SCHEMA = 2
#: How far back to look for a commit with the same driver.
MOST_COMMITS = 300


class NoBaseError(BenchproofError):
    """Nothing says what HEAD is to be held against."""


@dataclass(frozen=True)
class Passed:
    """A commit at which the gate passed.

    Attributes:
        commit: its hash.
        content: hash of its driver and of how it is built; survives a rebase.
        date: when it passed, ISO 8601.
        cpu: model of the processor on which it passed; "" where that was not recorded.
        accepted: regressions that are in it and were accepted, and whose day has not come.
    """

    commit: str
    content: str
    date: str
    cpu: str = ""
    accepted: tuple[Entry, ...] = ()

    def elsewhere(self, here: str) -> dict[str, Any] | None:
        """A warning (`analysers.warnings`) where the processor is another model."""
        if self.cpu in {"", here}:
            return None
        why = f"this is {here}, and the gate passed last on {self.cpu}"
        return {"about": "another processor model", "impl": "", "names": [], "why": why}


def load(file: Path) -> Passed:
    """Read the record.

    Raises:
        NoBaseError: there is none, or it cannot be read.
        NewerError: a newer benchproof kept it.
    """
    what_to_do = "name the base: benchproof gate BASE HEAD --record"
    try:
        kept = files.read_json(file)
        files.refuse_newer(kept, SCHEMA, file)
        commit, content, date = (str(kept[key]) for key in ("commit", "content", "date"))
        known = accepted.from_record(kept.get("accepted", ()), dt.datetime.now(dt.UTC).date())
        return Passed(commit, content, date, str(kept.get("cpu", "")), known)
    except FileNotFoundError as error:
        raise NoBaseError(f"no gate has passed yet ({file} is not there): {what_to_do}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoBaseError(f"{file} cannot be read ({error}): {what_to_do}") from error


def base(passed: Passed, checkout: Checkout, head: str) -> tuple[str, str]:
    """The commit to hold a head against, and what to say about the choice, or "".

    Args:
        passed: the record.
        checkout: in which the commit may be missing: a rebase renamed it, or the clone is shallow.
        head: the revision to gate.

    Raises:
        NoBaseError: neither the commit nor one with the same driver is there.
    """
    try:
        return checkout.commit(passed.commit), ""
    except TargetError:
        pass
    start = checkout.commit(head)
    # Between two commits that touch the build its content is the same.
    touching = checkout.touching(targets.inputs(checkout), start)[:MOST_COMMITS]
    for commit in dict.fromkeys([start, *touching]):
        if targets.content_of(checkout, commit) == passed.content:
            return commit, (
                f"the gate last passed at {passed.commit[:10]}, which is not in this clone: "
                f"{commit[:10]} has the same driver and stands for it"
            )
    mend = (
        "git fetch --unshallow"
        if checkout.is_shallow()
        else "git fetch, or name the base: benchproof gate BASE HEAD"
    )
    raise NoBaseError(
        f"the gate last passed at {passed.commit[:10]}, which is not in this clone, and no "
        f"ancestor of {head} has the same driver: {mend}"
    )


def record(document: Mapping[str, Any], file: Path) -> Passed:
    """Write down that a gate passed, and what was accepted by then, also at earlier passes.

    Raises:
        BenchproofError: it did not, or measured a working tree, or not everything; or the file
            cannot be written.
    """
    head = document["right"]
    if document["verdict"]["exit"]:
        raise BenchproofError(f"not recorded: {document['verdict']['status']}")
    if head["dirty"] or not head["commit"]:
        raise BenchproofError("not recorded: a commit passes, and this was a working tree")
    before: tuple[Entry, ...] = ()
    with suppress(NoBaseError):
        before = load(file).accepted
    found = {
        "schema": SCHEMA, "kind": "passed gate", "commit": head["commit"],
        "content": head["content"], "date": document["created"],
        "cpu": document["provenance"]["cpu"],
        "accepted": accepted.still(document, before),
    }  # fmt: skip
    results.write_json(found, file)
    return load(file)
