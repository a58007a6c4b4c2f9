"""Where the board is told: its page, the picture, what the site shows, and parts of two documents.

A document has its part between two comments, ``<!-- board -->`` and ``<!-- end of board -->``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from against import report
from benchproof import files
from benchproof.render.charts import Point, chart

from . import page, results
from .members import AGAIN, OURS
from .results import Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PICTURE = "docs/pictures/peers.svg"
#: What the site reads.
SITE = "leaderboard.json"
#: How marks of the others look: a colour, and a shape.
LOOKS = {
    "cassandra-driver": "left circle", "scylla-driver": "undecided square",
    "scylladb-rs-driver": "regressed circle", "rsylla": "allocations allocations",
    "acsylla": "improved square", "scyllapy": "platform right", OURS: "ink tick",
}  # fmt: skip


def everywhere(done: Mapping[str, Any], stem: Path, root: Path) -> None:
    """Write everything that is told of a measured board.

    Raises:
        BenchproofError: it cannot be written.
    """
    board = done["board"]
    files.write(report.markdown(done), stem.with_suffix(".md"))
    svg = picture(board)
    files.write(svg, root / PICTURE)
    text = json.dumps(site(board, svg), ensure_ascii=False, indent=1)
    files.write(text + "\n", stem.with_name(SITE))
    for name, part in (("README.md", in_readme(board)), ("docs/peers.md", in_docs(board))):
        file = root / name
        files.write(replaced(file.read_text(encoding="utf-8"), part), file)


def replaced(text: str, part: list[str]) -> str:
    """A document with another part."""
    body = "\n".join(["<!-- board -->", *part, "<!-- end of board -->"])
    return re.sub(
        r"<!-- board -->.*?<!-- end of board -->", lambda _: body, text, count=1, flags=re.DOTALL
    )


def summary(board: Mapping[str, Any], kind: str) -> str:
    """Who is lowest in how many cases, and who is below this driver beyond what is noise."""
    numbers = Numbers(board["nodes"][kind])
    everybody, lowest = page.every_name(board), Counter[str]()
    for case in results.case_names():
        costs = {name: page.cost(numbers, name, case) for name in everybody}
        told = {name: cost for name, cost in costs.items() if cost is not None}
        lowest.update([min(told, key=lambda name: told[name])] if told else [])
    below = Counter(
        text.partition(" (")[0] for others in page.standing(board, kind).values() for text in others
    )
    band = (numbers.beside(AGAIN, case) for case in results.case_names())
    ratios = [each.ratio for each in band if each]
    return (
        f"Beside {page.NODES[kind]}, the lowest of {sum(lowest.values())} cases: "
        f"{_counted(lowest)}. Below {OURS} with the whole interval: {_counted(below) or 'nobody'}. "
        f"The same driver a second time came to {min(ratios):.2f} to {max(ratios):.2f}."
    )


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} in {number}" for name, number in names.most_common())


def in_readme(board: Mapping[str, Any]) -> list[str]:
    """README's part: processor time beside everybody."""
    kind = next(iter(board["nodes"]))
    return [
        *page.cheapest(board, kind), "",
        *(summary(board, each) for each in board["nodes"]), _where(board),
    ]  # fmt: skip


def in_docs(board: Mapping[str, Any]) -> list[str]:
    """The part of docs/peers.md: conditions, all nodes, and where this driver loses."""
    lines = [*page.conditions(board)]
    for kind in board["nodes"]:
        lines += ["", summary(board, kind), ""]
        lines += page.cheapest(board, kind)
        others = {case: told for case, told in page.standing(board, kind).items() if told}
        if others:
            lines += ["", "Below this driver with the whole interval, as multiples:", ""]
            lines += [f"- {case}: {', '.join(told)}." for case, told in others.items()]
    lines += page.bare_sockets(board) + page.memory(board)
    return [*lines, "", "Not measured:", "", *page.missing(board)]


def _where(board: Mapping[str, Any]) -> str:
    about = board["provenance"]
    return (
        f"{about['python']}, {about['cpu']}, {about['cores']} cores, load {board['load']} before "
        f"the run, {board['created'][:10]}."
    )


def picture(board: Mapping[str, Any]) -> str:
    """A row a case of each node, a mark for each of the others."""
    rows, seen = [], set()
    for kind, node in board["nodes"].items():
        numbers = Numbers(node)
        for case in results.case_names():
            points, everybody = [], page.every_name(board)
            for at, name in enumerate([AGAIN, *everybody[1:]]):
                beside = numbers.beside(name, case)
                if beside:
                    look = LOOKS[OURS if name == AGAIN else name.partition(" ")[0]]
                    off = 0.0 if name == AGAIN else (at - len(everybody) / 2) * 0.1
                    points.append(Point(look, beside.ratio, off, beside.low, beside.high))
                    seen.add(name)
            own = numbers.median(numbers.cheapest(OURS, case) or "", OURS, case, "processor") or 0
            rows.append((f"{page.SHORT[kind]}: {case}", f"{own * 1e6:,.1f} µs", points))
    legend = [(name, LOOKS[name.partition(" ")[0]]) for name in page.every_name(board)[1:]
              if name in seen]  # fmt: skip
    axis = f"processor time, as a multiple of {OURS}'s (at the right), each in its cheapest way"
    return chart(rows, axis, [*legend, (AGAIN, LOOKS[OURS])], room=0.05)


def site(board: Mapping[str, Any], svg: str) -> dict[str, Any]:
    """What the site shows of it."""
    tables = [
        {"title": f"Cheapest way of each: {page.NODES[kind]}", **_cells(page.cheapest(board, kind))}
        for kind in board["nodes"]
    ]
    if kept := page.memory(board):
        tables.append({"title": "Memory", **_cells(kept[kept.index("") + 4 :])})
    return {
        "schema": 1, "kind": "leaderboard",
        "title": "Beside other drivers",
        "paragraphs": [
            *(summary(board, kind) for kind in board["nodes"]),
            *(line for line in page.conditions(board) if line),
        ],
        "picture": svg,
        "about_picture": "Processor time of each driver beside this one, case by case",
        "tables": tables,
        "notes": [line.removeprefix("- ") for line in page.missing(board)],
    }  # fmt: skip


def _cells(table: list[str]) -> dict[str, Any]:
    """A table of Markdown as its cells; those in bold are the best of their row."""
    lines = [line for line in table if line.startswith("|") and not line.startswith("|:")]
    head, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {
        "columns": head,
        "rows": [
            [{"text": cell.strip("*"), "best": cell.startswith("**")} for cell in row]
            for row in rows
        ],
    }
