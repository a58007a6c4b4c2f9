"""Puts what was measured into asv's files, with a note of how it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof import provenance, results

from . import choice, names, writing

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchproof.compare import Place

    from .choice import Job, Known, Plan
    from .loops import Loops
    from .measure import Key, Measured

#: What of the provenance can move a number, and is kept for each measurement.
PLATFORM = ("python", "compiler", "cpu", "kernel", "valgrind")


class Keeper:
    """Writes what was measured into asv's files."""

    def __init__(
        self,
        place: Place,
        folder: Path,
        about: Mapping[str, str],
        impls: Iterable[str],
        versions: Mapping[str, str],
        loops: Loops,
    ) -> None:
        """Where, for which machine, in which versions of the benchmarks, by which plan."""
        self._loops = loops
        self._place, self._folder, self._about, self._versions = place, folder, about, versions
        self._environments = {
            impl: writing.environment(place.checkout.root, impl) for impl in impls
        }
        facts = provenance.gather(place.toolchain)
        packages = facts.pop("packages")
        tools = {name: packages[name] for name in ("cython", "memray") if name in packages}
        self._platform = {name: str(facts[name]) for name in PLATFORM} | tools

    def known(self, *, again: bool) -> Known:
        """What the files hold."""
        return choice.Known(
            self._folder, self._about["machine"], self._environments, self._versions, again
        )

    def share(self, todo: Plan, known: Known) -> int:
        """Write numbers that another commit with the same driver has; for how many commits."""
        for (commit, impl), (donor, keys) in todo.shared.items():
            self._write(commit, impl, known.values(donor, impl, keys))
            self._note(commit, impl, {"from": donor})
        return len(todo.shared)

    def keep(self, job: Job, found: Measured) -> None:
        """Write what a measurement has found for all commits that it is of."""
        asked = job.asked
        reasons: dict[str, list[str]] = {}
        for name, why in found.why.items():
            reasons.setdefault(why, []).append(name)
        for commit, keys in job.commits.items():
            self._write(commit, asked.impl, {key: found.values[key] for key in keys})
            more = {"why": reasons} if reasons else {}
            origin = {"from": asked.commit} if commit != asked.commit else {}
            about = {"content": job.content[:16], **origin, "platform": self._platform, **more}
            self._note(commit, asked.impl, about)
        self._loops.keep()

    def _write(self, commit: str, impl: str, values: Mapping[Key, writing.Value]) -> None:
        date = int(self._place.checkout.ask("show", "--no-patch", "--format=%at", commit)) * 1000
        named = {names.stored(*key): value for key, value in values.items()}
        # Again: a run lasts for hours, and somebody may have moved the folder away in between.
        writing.describe_machine(self._folder, self._about)
        writing.write(
            self._folder, self._about, (commit, date), self._environments[impl],
            {name: (self._versions[name], value) for name, value in named.items()},
        )  # fmt: skip

    def _note(self, commit: str, impl: str, more: Mapping[str, Any]) -> None:
        record = {"commit": commit, "impl": impl, "created": results.now(), **more}
        writing.note(self._folder, self._about["machine"], record)
