"""Where this project stands: the newest commit at which its gate passed, kept in the repository.

With what was accepted there: to record a pass makes a regression part of the base, not forgotten.
And with what all passes since a pinned commit came to, so that many small steps are seen: a ratio
is always of two sides in one run, and the ratios of successive passes multiply.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchproof import accepted, files, targets, variants
from benchproof.accepted import Entry
from benchproof.checkout import Checkout, Place
from benchproof.compare import Request
from benchproof.errors import BenchproofError, TargetError

#: Below the reports.
FILE = "gate/passed.json"
SCHEMA = 3
#: Meters whose drift is kept: those that a limit of some tenths of a percent can overlook.
DRIFTING = ("instructions", "allocations", "bytes")
#: How far back to look for a commit with the same driver.
MOST_COMMITS = 300


class NoBaseError(BenchproofError):
    """Nothing says what HEAD is to be held against."""


@dataclass(frozen=True)
class Pin:
    """Where drift is counted from.

    Attributes:
        name: of the release, or the commit's short hash.
        passes: recorded since.
        ratios: what they came to, of a case or a suite: right by left, by "IMPL METER NAME".
    """

    name: str
    passes: int = 0
    ratios: Mapping[str, float] = field(default_factory=dict)

    def after(self, document: Mapping[str, Any]) -> dict[str, float]:
        """What they come to with a gate that was held against the last of them."""
        found = dict(self.ratios)
        for key, about in _by_key(document):
            if key.split(" ")[1] in DRIFTING and about["ratio"]:
                found[key] = round(found.get(key, 1.0) * about["ratio"], 6)
        return {key: ratio for key, ratio in found.items() if ratio != 1}

    def drift(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """For a gate's document: what is beyond its limit since the pin, the worst first.

        Of what is still measured; a case that is gone has no drift.
        """
        limits = {key: about["limit"] for key, about in _by_key(document)}
        beyond = sorted(
            ((ratio, key) for key, ratio in self.after(document).items()
             if key in limits and not 1 / (1 + limits[key]) <= ratio <= 1 + limits[key]),
            reverse=True,
        )  # fmt: skip
        rows = [
            dict(zip(("impl", "meter", "name"), key.split(" ", 2), strict=True)) | {"ratio": ratio}
            for ratio, key in beyond
        ]
        return {"since": self.name, "passes": self.passes, "rows": rows}


def _by_key(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What a gate says of each meter of its cases and suites, by "IMPL METER NAME"."""
    for row in (*document["cases"], *document["suites"]):
        for meter, about in row["meters"].items():
            yield f"{row['impl']} {meter} {row['name']}", about


@dataclass(frozen=True)
class Passed:
    """A commit at which the gate passed.

    Attributes:
        commit: its hash.
        content: hash of its driver and of how it is built; survives a rebase.
        date: when it passed, ISO 8601.
        cpu: model of the processor on which it passed; "" where that was not recorded.
        accepted: regressions that are in it and were accepted, and whose day has not come.
        pin: where drift is counted from; None in records from before there was one.
    """

    commit: str
    content: str
    date: str
    cpu: str = ""
    accepted: tuple[Entry, ...] = ()
    pin: Pin | None = None

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
        pin = Pin(**kept["pin"]) if kept.get("pin") else None
        return Passed(commit, content, date, str(kept.get("cpu", "")), known, pin)
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
                f"{commit[:10]} has the same package and stands for it"
            )
    mend = (
        "git fetch --unshallow"
        if checkout.is_shallow()
        else "git fetch, or name the base: benchproof gate BASE HEAD"
    )
    raise NoBaseError(
        f"the gate last passed at {passed.commit[:10]}, which is not in this clone, and no "
        f"ancestor of {head} has the same package: {mend}"
    )


def record(document: Mapping[str, Any], file: Path, pin: str = "") -> Passed:
    """Write down that a gate passed, and what was accepted by then, also at earlier passes.

    Args:
        document: of the gate.
        file: of the record.
        pin: a name for the head, from which drift is counted from now on; empty: from where it was
            counted, if the gate was held against the last pass, else from the gate's base.

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
    base = document["left"]["commit"] or ""
    since = Pin(base[:10])
    with suppress(NoBaseError):
        last = load(file)
        before = last.accepted
        # Ratios multiply only along successive passes.
        if last.pin and document["left"]["content"] == last.content:
            since = last.pin
    since = Pin(pin) if pin else Pin(since.name, since.passes + 1, since.after(document))
    found = {
        "schema": SCHEMA, "kind": "passed gate", "commit": head["commit"],
        "content": head["content"], "date": document["created"],
        "cpu": document["provenance"]["cpu"],
        "accepted": accepted.still(document, before), "pin": asdict(since),
    }  # fmt: skip
    files.write_json(found, file)
    return load(file)


def refuse_part(asked: Request, place: Place) -> None:
    """Refuse to call a part of a gate a pass.

    Raises:
        BenchproofError: some benchmarks, exact meters or an implementation were left out.
    """
    whole = set(DRIFTING) <= set(asked.meters)
    spec = targets.parse(asked.right)
    tree = spec.revision == targets.WORKING_TREE
    had = variants.of(place.checkout, None if tree else place.checkout.commit(spec.revision))
    if asked.bench or not whole or not set(had) <= set(asked.impls):
        raise BenchproofError(
            "--record needs the whole gate: all benchmarks, every variant, all exact meters"
        )
