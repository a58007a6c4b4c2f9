"""Options that several commands share, what they mean, and where a command's words go."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchproof import files, suite, variants
from benchproof.errors import SelectionError, TargetError, meant
from benchproof.meters import EXACT, METERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from rich.console import Console

    from benchproof.checkout import Checkout, Place
    from benchproof.collected import Samples
    from benchproof.compare import Outcome
    from benchproof.progress import Teller
    from benchproof.targets import Spec


def option(words: str, value: str | None = None, *names: str, **more: Any) -> Any:  # noqa: ANN401  (as typer has it)
    """An option: what it does, what stands for its value, and its name if that is another one."""
    return typer.Option(*names, help=words, metavar=value, **more)


def flag(words: str, name: str) -> Any:  # noqa: ANN401  (as above)
    """An option without a value."""
    return typer.Option(name, help=words)


def argument(words: str, value: str | None = None, **more: Any) -> Any:  # noqa: ANN401  (as above)
    """An argument, likewise."""
    return typer.Argument(help=words, metavar=value, **more)


def _finite(seconds: float | None) -> float | None:
    """Seconds that end."""
    if seconds is not None and not math.isfinite(seconds):
        raise typer.BadParameter(f"{seconds} is no number of seconds")
    return seconds


def _drawable(file: Path | None) -> Path | None:
    """A file whose name does not promise another format."""
    if file is not None and file.suffix.lower() != ".svg":
        raise typer.BadParameter(f"{file.name}: the picture is SVG: name it {file.stem}.svg")
    return file


Bench = Annotated[
    list[str] | None,
    option("Only benchmarks that match; may be repeated, for those that match any.", "REGEX"),
]
Budget = Annotated[
    float | None,
    option("Wall time; exact meters always finish.", "SECONDS", min=1, callback=_finite),
]
Force = Annotated[bool, flag("Measure even if both sides are the same build.", "--force")]
Impl = Annotated[
    str, option("A variant of the project, or all; default: those the commits have.", "NAME")
]
Json = Annotated[Path | None, option("Keep the whole document; '-' is standard output.", "FILE")]
Records = Annotated[
    Path | None, option("Keep all samples as JSON lines (.gz: compressed).", "FILE")
]
Picture = Annotated[Path | None, option("Draw what moved, as SVG.", "FILE", callback=_drawable)]
Quick = Annotated[bool, flag("Few processes: a rough wall time.", "--quick")]
Seed = Annotated[int, option("Of the random order of processes and cases.")]
All = Annotated[bool, flag("Show every benchmark, not what moved alone.", "--all")]
Committed = Annotated[bool, flag("Measure HEAD although the working tree differs.", "--committed")]
Suites = Annotated[
    Path | None, option("Benchmarks, a folder or one file; default: as the project says.", "PATH")
]
Reports = Annotated[Path | None, option("Default: reports/ of the checkout.", "DIR")]
Meters = Annotated[
    str, option("Of wall, instructions, allocations, bytes, retained; all; exact.", "LIST")
]


def chosen_meters(text: str, among: Sequence[str] = (), hint: str = "") -> tuple[str, ...]:
    """Read the list of meters.

    Args:
        text: the option.
        among: the meters that can be chosen; all if none is named.
        hint: what to say beside them to who named another one.

    Raises:
        SelectionError: it names none, or one that cannot be chosen.
    """
    known = tuple(among or METERS)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return known
    if names == ["exact"]:
        return tuple(name for name in known if name in EXACT)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise SelectionError(
            f"--meters {text!r}: choose from {', '.join(known)}, or exact{hint}"
            + (f", not {', '.join(unknown)}" if unknown else "")
            + (meant(unknown[0], (*known, "all", "exact")) if unknown else "")
        )
    return tuple(name for name in known if name in names)


def any_of(bench: Sequence[str] | None) -> str:
    """What chooses the benchmarks that any of some expressions chooses; empty for all.

    Raises:
        SelectionError: one of them is no regular expression.
    """
    return "|".join(suite.expression(each).pattern for each in bench or ())


def measured_impls(text: str, checkout: Checkout, *commits: str | None) -> tuple[str, ...]:
    """Read the choice of variants; those that the project has where none was made.

    Args:
        text: the option.
        checkout: the project.
        commits: in any of which it may have them; None is the working tree.

    Raises:
        BenchproofError: it names none, or they cannot be meant.
    """
    chosen = variants.chosen(checkout.variants, text)
    return chosen if text else variants.of(checkout, *commits)


def sides_of(left: str, right: str, impl: str) -> tuple[str, ...]:
    """Hold a question against the project, without building anything.

    Returns:
        The variants to measure; none where the sides name theirs.

    Raises:
        BenchproofError: a side names nothing, or an option cannot be meant.
    """
    from benchproof import targets  # noqa: PLC0415  (--help should be fast)

    specs = [targets.parse(left), targets.parse(right)]
    here = _here(specs)
    found = [targets.resolve(spec, here) for spec in specs]
    named = [spec.text for spec in specs if spec.impl]
    if named and impl:
        raise TargetError(f"{named[0]!r} names a variant: --impl has nothing to choose")
    if impl and any(side.wheel for side in found):
        raise TargetError("a wheel is measured as it is: --impl has nothing to choose")
    if named or any(side.wheel or side.repository for side in found):
        return ()
    return measured_impls(impl, here, *(side.read_from for side in found))


def _here(specs: Sequence[Spec]) -> Checkout:
    """The checkout around the current directory; that directory where no side is a commit of one.

    Raises:
        BenchproofError: it is needed, and is none.
    """
    from benchproof import targets  # noqa: PLC0415
    from benchproof.checkout import Checkout  # noqa: PLC0415

    apart = all(spec.revision.endswith(targets.WHEEL)
                or spec.revision.startswith(targets.ELSEWHERE)
                for spec in specs)  # fmt: skip
    return Checkout.around_or_at(Path.cwd()) if apart else Checkout.around(Path.cwd())


def gated_impls(base: str, head: str, impl: str) -> tuple[str, ...]:
    """The variants that a gate measures: those of its head, unless one was chosen.

    Raises:
        BenchproofError: a side names nothing, or an option cannot be meant.
    """
    from benchproof import targets  # noqa: PLC0415
    from benchproof.checkout import Checkout  # noqa: PLC0415

    here = Checkout.around(Path.cwd())
    commits = [
        None if spec.revision == targets.WORKING_TREE else here.commit(spec.revision)
        for spec in map(targets.parse, filter(None, (base, head)))
    ]
    return measured_impls(impl, here, *commits)


def place_of(suites: Path | None, *sides: str) -> Place:
    """The checkout around the current directory, with its suites and cache.

    Args:
        suites: the folder of the benchmarks, or a file of them, where a person named it.
        sides: as written; where none of them is a commit of it, no checkout is needed.

    Raises:
        BenchproofError: it is none.
    """
    from benchproof import asv_conf, targets, toolchain  # noqa: PLC0415
    from benchproof.checkout import Place  # noqa: PLC0415

    here = replace(_here([targets.parse(side) for side in sides or ["."]]), named=suites)
    found = asv_conf.locate(here.root, suites)
    for words in filter(None, [found.why, asv_conf.unread(here.root)]):
        typer.echo(words, err=True)
    return Place(here, found.folder, files.cache_of(here.root), toolchain.find())


#: Characters of a line where no terminal says how many it has: a file, a pipe, the log of a CI job.
WITHOUT_A_TERMINAL = 160


@dataclass(frozen=True)
class Output:
    """A command's standard output and standard error; nothing is loaded until something is said.

    Attributes:
        json: where its document goes; None for nowhere, `files.STDOUT` for standard output.
    """

    json: Path | None

    def console(self) -> Console:
        """For tables: standard output, or standard error where the document takes that."""
        from rich.console import Console  # noqa: PLC0415  (--help should be fast)

        console = Console(stderr=self.json == files.STDOUT)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console.width = WITHOUT_A_TERMINAL
        return console

    def telling(self) -> AbstractContextManager[Teller]:
        """For progress: standard error."""
        from rich.console import Console  # noqa: PLC0415  (as above)

        from benchproof.progress import telling  # noqa: PLC0415

        return telling(Console(stderr=True))

    def keep(self, document: Mapping[str, Any]) -> None:
        """Write the document, if it was asked for.

        Raises:
            BenchproofError: it cannot be written.
        """
        if self.json is not None:
            files.write_json(document, self.json)

    def compared(
        self, outcome: Outcome, *, everything: bool, records: Path | None = None,
        picture: Path | None = None,
    ) -> int:  # fmt: skip
        """Show a comparison, and keep of it what was asked for; its exit status.

        Raises:
            ModuleNotFoundError: what draws is not installed.
            BenchproofError: a file cannot be written.
        """
        from benchproof import table  # noqa: PLC0415  (as above)

        table.show(outcome.document, self.console(), everything=everything)
        if self.json is not None:
            outcome.save(self.json)
        if records is not None:
            outcome.save_records(records)
        if picture is not None:
            from benchproof.render import pictures  # noqa: PLC0415  (an extra)

            pictures.keep(outcome.document, picture)
        return int(outcome.document["verdict"]["exit"])

    def judged(
        self, samples: Samples, *, everything: bool, records: Path | None = None,
        picture: Path | None = None,
    ) -> int:  # fmt: skip
        """Judge samples, and show and keep the comparison as above."""
        from benchproof import compare, judge  # noqa: PLC0415  (scipy is slow to import)

        outcome = compare.Outcome(judge.document(samples), samples, ())
        return self.compared(outcome, everything=everything, records=records, picture=picture)
