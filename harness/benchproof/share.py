"""Shares: which part of a whole benchmark each of its parts has, from a results file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from . import files, judge, results
from .errors import BenchproofError, SelectionError, told
from .plan import SIDES
from .render import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

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


def sides(text: str) -> tuple[str, ...]:
    """The sides that a person asked for.

    Raises:
        SelectionError: there is no such side.
    """
    if text == "both":
        return SIDES
    if text not in SIDES:
        raise SelectionError(f"--side {text!r}: choose left, right or both")
    return (text,)


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
            "no benchmark of these results is a part of another one; those of query_path are"
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
        console.print(Text(one["whole"], style="bold"), highlight=False)
        console.print(Text(f"  {one['side']:<5} {one['description']}"), highlight=False)
        if one["meters"]:
            console.print(_table(one["meters"]))
        else:
            console.print(Text("no meter measured the whole and all of its parts", style="yellow"))


def _table(meters: Mapping[str, Any]) -> Table:
    """The parts in the order of the first meter, what is in none, and the whole."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("part")
    for meter in meters:
        grid.add_column(COLUMNS[meter][0], justify="right")
        grid.add_column("share", justify="right")
    by_name = {meter: {row["name"]: row for row in meters[meter]["parts"]} for meter in meters}
    first = next(iter(by_name.values()))
    for name in first:
        grid.add_row(name, *_cells({meter: by_name[meter][name] for meter in meters}))
    rest = {meter: meters[meter]["unexplained"] for meter in meters}
    grid.add_row(Text(UNEXPLAINED, style="yellow"), *_cells(rest))
    whole = {meter: _share(meters[meter]["whole"], meters[meter]["whole"]) for meter in meters}
    grid.add_row(Text("whole", style="bold"), *_cells(whole))
    return grid


def _cells(numbers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Number and share of each meter."""
    cells = []
    for meter, number in numbers.items():
        share = number["share"]
        cells += [COLUMNS[meter][1](number["value"]), "-" if share is None else f"{share:.1%}"]
    return cells
