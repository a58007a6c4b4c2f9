"""The benchmarks of a project: before anything is built where that can be, else from a build."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from . import asv_conf, pytest_files, suite, targets
from .bench import ANSWERS, Bench, environment, read_lines, start
from .build import Builder
from .checkout import Checkout, Place
from .errors import COULD_NOT_MEASURE, NO_REGRESSION, WorkerError, counted
from .grids import borderless, print_whole, say
from .meters import METERS, of, why_not
from .package import name as import_name
from .plan import SIDES
from .processes import Crew
from .progress import Teller
from .variants import UNNAMED


def early(suites: Path, checkout: Checkout) -> list[dict[str, Any]] | None:
    """The benchmarks, as a worker without any side describes them.

    Args:
        suites: folder of the benchmark definitions.
        checkout: whose package must not be imported for it.

    Returns:
        None where the list cannot be had like this: a suite imports the package as it is loaded,
        or does not load. Then only a build can tell, and says what is wrong.
    """
    request = {
        "task": "list", "suites": str(suites.resolve()), "package": import_name(checkout.package),
    }  # fmt: skip
    with Crew() as crew:
        child = start(crew, request, crew.scratch, environment(UNNAMED, None))
        return None if crew.wait(child).status else read_lines(crew.scratch / ANSWERS)


def found(place: Place, side: str, tell: Teller) -> list[dict[str, Any]]:
    """The benchmarks, as a worker describes them; from a build of a side where that is needed.

    Args:
        place: the checkout, its suites and its builds.
        side: a commit or ".".
        tell: hears of it.

    Raises:
        BenchproofError: the side does not build, or the suites do not import beside it.
    """
    tell.stage("finding the benchmarks")
    asv_conf.require(place.suites)
    root = place.checkout.root
    others = None if pytest_files.benchmarks(place.suites) else pytest_files.locate(root)
    if others is not None and not others.is_relative_to(place.suites.resolve()):
        where = others.relative_to(root)
        tell.line(f"not listed: tests in {where}/ that use pytest's fixture (--suites {where})")
    known = early(place.suites, place.checkout)
    if known is not None:
        return known
    target = targets.resolve(targets.parse(side), place.checkout)
    with Crew() as crew:
        builder = Builder(place.checkout, place.cache, crew, place.toolchain, tell)
        built = builder.build(target)
        return discovered(
            Bench(dict.fromkeys(SIDES, built), place.suites.resolve(), crew, crew.scratch, None)
        )


def discovered(bench: Bench) -> list[dict[str, Any]]:
    """The benchmarks as the right side's worker finds them, with the modules that do not import.

    Raises:
        WorkerError: it ends badly for another reason.
    """
    try:
        return bench.discover()
    except WorkerError:
        # Having said so, it ends badly.
        rows = read_lines(bench.folder("right", "discover-0-0-0") / ANSWERS)
        if not any(row.get("broken") for row in rows):
            raise
        return rows[1:]


def of_base(bench: Bench, suites: Path, tree: Path, place: Place) -> list[dict[str, Any]]:
    """The base's benchmarks as its worker finds them, beside the packages that these need.

    Sides are measured beside what the head's need, which has dropped a `conftest.py`, say.

    Args:
        bench: of both sides.
        suites: the base's.
        tree: the folder of their copy, if there is one; of pytest's it holds all of the base.
        place: with the checkout.

    Raises:
        BuildError: what they need cannot be installed.
        WorkerError: they cannot be listed.
    """
    own = suites.is_relative_to(tree) and pytest_files.benchmarks(suites)
    checkout = replace(place.checkout, root=tree if own else place.checkout.root, named=suites)
    builder = Builder(checkout, place.cache, bench.crew, place.toolchain)
    found = builder.share({side: [each] for side, each in bench.sides.items()})
    sides = {side: each[0] for side, each in found.items()}
    return replace(bench, sides=sides, suites=suites).discover("left")


def document(rows: Sequence[Mapping[str, Any]], pattern: re.Pattern[str]) -> dict[str, Any]:
    """What was found, which meters measure it, and why something is not measured.

    Args:
        rows: as a worker describes what it found.
        pattern: only benchmarks in whose name it is found.
    """
    cases = [case for case in suite.from_rows(rows, METERS) if pattern.search(case.name)]
    words = {
        row["name"]: {key: row[key] for key in ("pretty_name", "params") if key in row}
        for row in rows if "name" in row
    }  # fmt: skip
    missing = {name: why_not(name) for name in METERS if why_not(name)}
    return {
        "schema": 1, "kind": "benchmarks", "not_here": missing,
        "benchmarks": [
            {"name": case.name, "kind": case.kind, "unit": case.unit, "version": case.version,
             "meters": [name for name in of(case.kind)
                        if name not in missing and (name != "tail" or case.tail)]}
            | words[case.name]
            for case in cases
        ],
        "excluded": suite.left_out(rows, pattern, METERS),
        "broken": [row["excluded"] for row in rows if row.get("broken")],
    }  # fmt: skip


def exit_status(about: Mapping[str, Any]) -> int:
    """Whether anything can be measured, and all that there is could be listed."""
    some = any(each["meters"] for each in about["benchmarks"])
    return NO_REGRESSION if some and not about["broken"] else COULD_NOT_MEASURE


def show(about: Mapping[str, Any], console: Console) -> None:
    """Print the same: each benchmark with its kind, then what measures a kind."""
    described = {
        each["name"]: ", ".join([
            *filter(None, [each.get("pretty_name")]),
            *(f"{name}={value}" for name, value in each.get("params", {}).items()),
        ]) for each in about["benchmarks"]
    }  # fmt: skip
    titles = ["benchmark", "kind", *["pretty name, parameters"] * any(described.values())]
    grid = borderless(*titles, gap=2, fold="benchmark")
    kinds: dict[str, list[str]] = {}
    for each in about["benchmarks"]:
        kind = each["kind"] + ", tail" * ("tail" in each["meters"])
        kinds[kind] = each["meters"]
        unit = f" ({each['unit']})" if kind == "track" else ""
        cells = [each["name"], f"{kind}{unit}", described[each["name"]]]
        grid.add_row(*map(Text, cells[: len(titles)]))
    if kinds:
        print_whole(console, grid)
    for kind, meters in kinds.items():
        say(console, f"{kind} is measured by {', '.join(meters) or 'nothing here'}", "bold")
    for each in about["excluded"]:
        say(console, f"{each['name']}: {each['why']}", "yellow")
    for name, why in about["not_here"].items():
        say(console, f"{name}: not here: {why}", "yellow")
    number = counted(len(about["benchmarks"]), "benchmark")
    say(console, f"{number}, {len(about['excluded'])} not measured", "bold")
