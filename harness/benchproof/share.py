"""Shares: which part of a whole benchmark each of its parts has, from a results file."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import files, judge, results
from .errors import BenchproofError, SelectionError, told
from .grids import borderless, print_whole, say
from .render import units

#: Of the meters, in the order of the columns: title, and how a number of it is written.
COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "instructions": ("instructions", lambda value: f"{value:,.0f}"),
    "allocations": ("allocs", lambda value: f"{value:,.1f}"),
    "wall": ("time", units.seconds),
}
UNEXPLAINED = "(in no part)"
#: Results of the main job that can be read, best first: two implementations tell the most.
_OF_A_RUN = ("implementations.json", "commits.json", "itself.json")


def of_last_run(reports: Path) -> Path:
    """The results file of the last `benchproof run`.

    Raises:
        BenchproofError: there is none.
    """
    for name in _OF_A_RUN:
        if (reports / "latest" / name).exists():
            return reports / "latest" / name
    raise BenchproofError(
        f"no results in {reports / 'latest'}: `benchproof run` makes some, or name the file of a "
        "`benchproof compare --json FILE`"
    )


def read(file: Path) -> list[dict[str, Any]]:
    """The comparisons of a results file: one, or one for each implementation.

    Raises:
        BenchproofError: it cannot be read, or is none.
    """
    try:
        whole = files.read_json(file)
        for document in (whole, *whole.get("comparisons", ())):
            files.refuse_newer(document, judge.SCHEMA, file)
        return results.by_variant(whole)
    except OSError as error:
        raise told(error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchproofError(f"{file} is no results file of benchproof") from error


def is_results(file: Path) -> bool:
    """Whether a file is there and holds what `read` reads."""
    try:
        return file.is_file() and bool(read(file))
    except BenchproofError:
        return False


def sides_of(document: Mapping[str, Any], chosen: Sequence[str], impl: str) -> tuple[str, ...]:
    """Of the sides of a comparison, those of a variant.

    Args:
        document: of one comparison.
        chosen: sides.
        impl: the variant; "" for all.
    """
    return tuple(
        side for side in chosen if not impl or document[side].get("impl", "") in {impl, ""}
    )


def shares(document: Mapping[str, Any], chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The shares of every whole, on each side.

    Returns:
        For each whole and side: ``whole`` (its name), ``side``, ``description`` of the side, and
        ``meters``: by name ``whole`` (the number a call), ``parts`` (rows of ``name``, ``value``
        and ``share``) and ``unexplained`` (``value`` and ``share``). Parts are in the order of
        their shares. A meter is left out unless the whole and all of its parts have it.

    Raises:
        SelectionError: no benchmark is a part of one that was measured.
    """
    cases = {case["name"]: case for case in document["cases"] if case["meters"]}
    parts_of: dict[str, list[Mapping[str, Any]]] = {}
    for case in document["cases"]:
        if case.get("part_of") in cases:
            parts_of.setdefault(case["part_of"], []).append(case)
    if not parts_of:
        raise SelectionError(
            "no benchmark of these results is a part of another one, as its part_of would say"
        )
    return [
        {
            "whole": name,
            "side": side,
            "description": document[side]["description"],
            "meters": {
                meter: _of(cases[name], parts, meter, side)
                for meter in COLUMNS
                if all(meter in case["meters"] for case in (cases[name], *parts))
            },
        }
        for side in chosen
        for name, parts in parts_of.items()
    ]


def _of(
    whole: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], meter: str, side: str
) -> dict[str, Any]:
    """One meter's numbers."""
    total = whole["meters"][meter][side]
    rows = [
        {"name": _short(part, whole), **_share(part["meters"][meter][side], total)}
        for part in parts
    ]
    rows.sort(key=lambda row: -row["value"])
    rest = total - sum(row["value"] for row in rows)
    return {"whole": total, "parts": rows, "unexplained": _share(rest, total)}


def _share(value: float, total: float) -> dict[str, Any]:
    return {"value": value, "share": value / total if total else None}


def _short(part: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    """A part's name without the whole's in front of it."""
    name: str = part["case"].removeprefix(whole["case"]).lstrip("_")
    return name or part["case"]


def show(found: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print one table for each whole and side."""
    for one in found:
        console.print()
        say(console, one["whole"], "bold")
        say(console, f"  {one['side']:<5} {one['description']}")
        if one["meters"]:
            print_whole(console, _table(one["meters"]))
        else:
            say(console, "no meter measured the whole and all of its parts", "yellow")


def _table(meters: Mapping[str, Any]) -> Table:
    """The parts in the order of the first meter, what is in none, and the whole."""
    titles = (title for meter in meters for title in (f"{COLUMNS[meter][0]}:", "share:"))
    grid = borderless("part", *titles, gap=2, fold="part")
    columns = {
        meter: {(part["name"], ""): part for part in about["parts"]} | {
            (UNEXPLAINED, "yellow"): about["unexplained"],
            ("whole", "bold"): _share(about["whole"], about["whole"]),
        } for meter, about in meters.items()
    }  # fmt: skip
    for name, style in next(iter(columns.values())):
        cells = []
        for meter, column in columns.items():
            number, share = column[name, style]["value"], column[name, style]["share"]
            cells += [COLUMNS[meter][1](number), "-" if share is None else f"{share:.1%}"]
        grid.add_row(Text(name, style), *cells)
    return grid
