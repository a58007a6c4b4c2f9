"""What a comparison is ruled by: settings and accepted regressions, and whose benchmarks are run.

Settings and accepted regressions are read from the head, so that a pull request that loosens a rule
shows that in its diff.

Both sides are measured with the same definitions, so that a ratio never comes from a benchmark
that was edited. They are the head's; a branch that has none yet (a pull request that is older than
the benchmarks) is measured with the base's, else with the working tree's. What only the base
defines would vanish without a word: it is listed, and excluded by name. Where old commits are
looked at (a bisection) it is the working tree that rules.
"""

import shutil
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import accepted, asv_conf, pytest_files, settings, suite
from .checkout import Checkout, Place
from .settings import Settings
from .targets import Target


@dataclass(frozen=True)
class Rules:
    """The rules of one comparison.

    Attributes:
        settings: `[tool.benchproof]`.
        entries: of the file of accepted regressions.
        suites: the folder of the benchmark definitions.
        whose: one line that says whose they are, or "".
    """

    settings: Settings
    entries: tuple[accepted.Entry, ...]
    suites: Path
    whose: str


def read(
    head: Target, base: Target, place: Place, scratch: Path, *, todays: bool, accepts: bool,
    runs: bool,
) -> Rules:  # fmt: skip
    """Read the rules of a commit; those of the working tree, if the head is none of this project.

    Args:
        head: the candidate.
        base: whose benchmarks are run where the head has none.
        place: with the checkout.
        scratch: a folder for copies, which is made.
        todays: whether the working tree rules, whatever the head has.
        accepts: whether regressions can be accepted.
        runs: whether benchmarks are run.

    Raises:
        SettingsError: a setting cannot be meant.
        AcceptedError: an entry breaks a rule.
        TargetError: there are no benchmarks.
    """
    commit = None if todays or head.repository else head.read_from
    text = place.checkout.read(commit, settings.FILE).decode(errors="replace")
    chosen = settings.parse(text)
    scratch.mkdir()
    data = place.checkout.read(commit, chosen.accepted) if accepts else b""
    names = [each.name for each in place.checkout.variants if each.name]
    entries = tuple(accepted.parse(data, Path(chosen.accepted).name, names))
    if not runs:
        return Rules(chosen, entries, place.suites, "")
    order: list[tuple[str, Target | None]] = [("the head", head), ("the base", base)]
    order.insert(0 if todays else 2, ("the working tree", None))
    return Rules(chosen, entries, *choose(order, place.checkout, place.suites, scratch))


def choose(
    order: Sequence[tuple[str, Target | None]], checkout: Checkout, suites: Path, scratch: Path
) -> tuple[Path, str]:
    """The definitions that both sides are measured with, and one line that says whose they are.

    Args:
        order: who is asked for them, in words, first come first served; None: the working tree.
        checkout: that holds them.
        suites: the folder in the working tree.
        scratch: for a copy; need not exist.

    Raises:
        TargetError: nobody has any.
    """
    of_pytest = suites.is_file() and pytest_files.benchmarks(suites)
    if _is_one_module(suites):
        folder = scratch / "benchmarks"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        shutil.copy2(suites, folder)
        return folder, f"benchmarks of both sides: {suites}"
    place = suites.resolve()
    root = checkout.root.resolve()
    name = f"{place.relative_to(root) if place.is_relative_to(root) else place}"
    name += "" if of_pytest else "/"
    for number, (who, target) in enumerate(order):
        if target is None or target.is_working_tree:
            found = place if place.is_dir() or of_pytest else None
        else:
            found = of(target, checkout, place, scratch / f"definitions-{number}")
        if found is not None:
            why = f" ({order[0][0]} has none)" if number else ""
            return found, f"benchmarks of both sides: {name} of {who}{why}"
    asv_conf.require(place)
    return place, ""


def _is_one_module(suites: Path) -> bool:
    """Whether it is one file of asv's benchmarks, which are modules of a package elsewhere."""
    return suites.is_file() and not pytest_files.benchmarks(suites)


def of(target: Target, checkout: Checkout, suites: Path, folder: Path) -> Path | None:
    """The folder of the definitions as a side has them.

    Args:
        target: the side.
        checkout: that holds it.
        suites: the folder in the working tree; one outside of the checkout belongs to no commit.
        folder: for a copy.

    Returns:
        The folder itself where the side's content is the working tree's, a copy where it differs,
        None where the side has none, or where a single file of asv's stands for both sides.
    """
    suites, root = suites.resolve(), checkout.root.resolve()
    if target.repository is not None or target.wheel or _is_one_module(suites):
        return None
    if target.is_working_tree or not target.commit or not suites.is_relative_to(root):
        return suites if suites.exists() else None
    name = str(suites.relative_to(root))
    held = checkout.committed(target.commit, (name,))
    if not held:
        return None
    if held == checkout.working((name,)):
        return suites
    folder.mkdir(parents=True)
    checkout.export(target.commit, folder, name)
    if pytest_files.benchmarks(folder / name):
        # pytest reads configuration and conftest.py of the folders above, and tests read data.
        shutil.rmtree(folder)
        folder.mkdir()
        checkout.export(target.commit, folder)
    return folder / name


def gone(base: Collection[str], head: Collection[str]) -> list[dict[str, str | None]]:
    """The benchmarks that only the base has, as the document names them.

    Args:
        base: names of its benchmarks.
        head: the same of the head.
    """
    return [
        {"name": name, "impl": None, "why": f"at the base but not at the head{_now(name, head)}"}
        for name in sorted(set(base) - set(head))
    ]


def _now(name: str, head: Collection[str]) -> str:
    """What a benchmark may be called now: the same function in another suite."""
    function = suite.parts(name)[1]
    found = sorted(each for each in head if suite.parts(each)[1] == function)
    return f" (renamed to {found[0]}?)" if len(found) == 1 else " (renamed or removed)"
