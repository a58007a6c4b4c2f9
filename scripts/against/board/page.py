"""The board as Markdown: who is cheapest first, then each node and way, memory, what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import bare, cases, results
from .members import AGAIN, OURS, WAYS
from .results import Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: How each node is called in titles.
NODES = {
    "load-test": "a load-test node that answers recorded frames at once",
    "real": "a real node",
}
SHORT = {"load-test": "load-test node", "real": "real node"}
WAY_WORDS = {
    "threads": "a thread for each request in flight",
    "futures": "one thread with futures",
    "asyncio": "asyncio, a task for each request in flight",
}


def markdown(board: Mapping[str, Any]) -> list[str]:
    """Sections of a page."""
    lines = ["", "## Whole requests", "", *conditions(board)]
    for kind in board["nodes"]:
        lines += ["", f"### Cheapest way of each, {NODES[kind]}", "", *cheapest(board, kind)]
    for kind in board["nodes"]:
        for way in WAYS:
            lines += ["", f"### {WAY_WORDS[way].capitalize()}; {NODES[kind]}"]
            for title, cell in _tables(board, kind, way):
                lines += ["", f"{title}:", "", *_table(board, way, cell)]
    lines += memory(board) + bare_sockets(board)
    return [*lines, "", "### What was not measured", "", *missing(board)]


def conditions(board: Mapping[str, Any]) -> list[str]:
    """The machine and the rules, one paragraph a line."""
    about = board["provenance"]
    first = next(iter(board["nodes"].values()))
    looked = sum(
        sum(said["looked"].values())
        for node in board["nodes"].values()
        for way in node["checked"].values()
        for said in way.values()
    )
    machine = (
        f"{about['python']}, {about['cpu']}, {about['cores']} cores, load {board['load']} before "
        f"the run, {board['created'][:10]}; {first['blocks']} blocks of a process of each driver "
        "and way, in random order, and intervals of 99 % from processes of one block. Before, all "
        f"{looked:,} answers of a round of every case were compared with what had been stored."
    )
    rules = (
        "A request binds a key (an insert: six values), and ends when the program has the values "
        "of all rows. Every driver has its defaults, without compression. Processor time is that "
        f"of the client's process with all its threads, the kernel's part in it. `{AGAIN}` is the "
        "same driver a second time: what its ratio is off 1 is noise."
    )
    return [machine, "", rules]


def cheapest(board: Mapping[str, Any], kind: str) -> list[str]:
    """Processor time a request of everybody, each in the way that is cheapest for it."""
    numbers = Numbers(board["nodes"][kind])
    everybody = every_name(board)
    head = f"| microseconds a request, and multiples of {OURS} | {' | '.join(everybody)} |"
    lines = [head, "|:--|" + "--:|" * len(everybody)]
    for case in results.case_names():
        told = {name: _cheapest(numbers, name, case) for name in everybody}
        lowest = min((cost for cost, _ in told.values() if cost), default=None)
        cells = [f"**{text}**" if cost == lowest else text for cost, text in told.values()]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return lines


def every_name(board: Mapping[str, Any]) -> list[str]:
    """Everybody on the board but the second run of this driver, this driver first."""
    return list(dict.fromkeys(
        name for way in WAYS for name in results.names(board, way)
    ))  # fmt: skip


def cost(numbers: Numbers, name: str, case: str) -> float | None:
    """Processor seconds of a request in the way that is cheapest for a driver."""
    way = numbers.cheapest(name, case)
    return numbers.median(way, name, case, "processor") if way else None


def _cheapest(numbers: Numbers, name: str, case: str) -> tuple[float | None, str]:
    way, seconds = numbers.cheapest(name, case), cost(numbers, name, case)
    if seconds is None:
        return None, "-"
    beside = numbers.beside(name, case) if name != OURS else None
    return seconds, f"{_micro(seconds)} {way}" + (f", {beside.ratio:.2f}x" if beside else "")


def standing(board: Mapping[str, Any], kind: str) -> dict[str, list[str]]:
    """By case, the others that are cheaper than this driver, each in its cheapest way."""
    numbers = Numbers(board["nodes"][kind])
    found: dict[str, list[str]] = {}
    for case in results.case_names():
        found[case] = [
            f"{name} ({beside.ratio:.2f})"
            for name in every_name(board)
            if name != OURS and (beside := numbers.beside(name, case)) and beside.high < 1
        ]
    return found


def _tables(board: Mapping[str, Any], kind: str, way: str) -> list[tuple[str, Any]]:
    """Titles of tables, and what gives a cell of each."""
    numbers = Numbers(board["nodes"][kind])

    def processor(name: str, case: str) -> str:
        mine = numbers.median(way, name, case, "processor")
        beside = numbers.ratio(way, name, case, "processor")
        if mine is None or beside is None:
            return ""
        if name == OURS:
            return f"{_micro(mine)} µs"
        return f"**{beside.ratio:.2f}** ({beside.low:.2f} to {beside.high:.2f})"

    def elapsed(name: str, case: str) -> str:
        told = [numbers.median(way, name, case, meter) for meter in ("elapsed", "p50", "p99")]
        if None in told:
            return ""
        took, half, most = (number or 0.0 for number in told)
        return f"{1 / took:,.0f}/s; {half * 1e3:.2f}, {most * 1e3:.2f}"

    def switches(name: str, case: str) -> str:
        told = [numbers.median(way, name, case, meter) for meter in ("switches", "node", "elapsed")]
        if None in told:
            return ""
        count, node, took = (number or 0.0 for number in told)
        return f"{count:.2f}" + (f"; {node / took:.0%}" if node else "")

    tables = [(f"Processor time, multiples of {OURS}", processor)]
    if results.is_quiet(board):
        tables.append(("Requests a second; median and 99th percentile in milliseconds", elapsed))
    share = "; how much of the time the node's one thread worked" if kind == "load-test" else ""
    return [*tables, (f"Voluntary context switches a request{share}", switches)]


def _table(board: Mapping[str, Any], way: str, cell: Any) -> list[str]:  # noqa: ANN401  (a function)
    names = [name for name in results.names(board, way) if name not in board["missing"][way]]
    names.insert(1, AGAIN)
    lines = [f"|  | {' | '.join(names)} |", "|:--|" + "--:|" * len(names)]
    lines += [
        f"| {case} | {' | '.join(cell(name, case) or '-' for name in names)} |"
        for case in results.case_names()
    ]
    return lines


def _micro(seconds: float) -> str:
    micro = seconds * 1e6
    return f"{micro:,.0f}" if micro >= 100 else f"{micro:.1f}"


def memory(board: Mapping[str, Any]) -> list[str]:
    """A table of sessions and rows in memory."""
    if not board["memory"]:
        return []
    about_it = (
        "PSS. A session: what an idle one adds to an interpreter that has not imported the driver. "
        "In flight: what a request adds that nobody answers, its future or task in it, and how "
        "many reached the node. A row: of a page of 1,000 that is kept, six columns, in the "
        "driver's own kind of row, and as tuple where its row factory makes them."
    )
    columns = (
        "a session, MiB", "1,000 in flight, bytes each", "32,768 in flight, bytes each",
        "a row, bytes", "a row as tuple, bytes",
    )  # fmt: skip
    lines = ["", "### Memory", "", about_it, "", f"|  | {' | '.join(columns)} |",
             "|:--|--:|--:|--:|--:|--:|"]  # fmt: skip
    for way, of_way in board["memory"].items():
        for name, about in of_way.items():
            session = f"{(about['idle'] - about['bare']) / 2**20:.1f}" if "idle" in about else "-"
            flying = [_flying(int(number), each) for number, each in about["flying"].items()]
            own, tuples = about["rows"].values()
            kept = "-" if isinstance(own, str) else f"{own[1]:.0f} ({own[0]})"
            other = "-" if isinstance(tuples, str) else f"{tuples[1]:.0f}"
            if not isinstance(own, str) and own[0] == "tuple":
                other = f"{own[1]:.0f}"
            cells = [session, *flying, kept, other]
            lines.append(f"| {name}, {way} | {' | '.join(cells)} |")
    return lines


def _flying(number: int, about: Mapping[str, Any] | str) -> str:
    if isinstance(about, str):
        return "failed"
    reached = "" if about["held"] == number else f" ({about['held']:,} reached the node)"
    return f"{about['bytes'] / number:,.0f}{reached}"


def bare_sockets(board: Mapping[str, Any]) -> list[str]:
    """A table of one request in flight, beside a socket that sends what was made before."""
    everybody = every_name(board)
    about_it = (
        "Processor time of a Python program that sends requests which were made before, one by "
        "one, and receives each answer, without looking at it: nearly all of it is the kernel's. "
        "Beside it each driver in its cheapest way, as multiples of that."
    )
    lines = [
        "", "### One request in flight, beside a bare socket", "", about_it, "",
        f"|  | {bare.NAME} | {' | '.join(everybody)} |", "|:--|" + "--:|" * (1 + len(everybody)),
    ]  # fmt: skip
    for kind in board["nodes"]:
        numbers = Numbers(board["nodes"][kind])
        for case in bare.CASES:
            own = numbers.median(bare.WAY, bare.NAME, case, "processor")
            if own is None:
                return []
            told = [numbers.of_socket(name, case) for name in everybody]
            cells = [f"{each.ratio:.2f}" if each else "-" for each in told]
            lines.append(f"| {SHORT[kind]}: {case} | {_micro(own)} µs | {' | '.join(cells)} |")
    return lines


def missing(board: Mapping[str, Any]) -> list[str]:
    """Who cannot do what, and why; a line each."""
    lines = [f"- {cases.LEFT_OUT}."]
    for way, of_way in board["missing"].items():
        lines += [f"- {name}, {way}: {why}." for name, why in of_way.items()]
    told: dict[str, list[str]] = {}
    for node in board["nodes"].values():
        for way, of_way in node["checked"].items():
            for name, said in of_way.items():
                for case, why in said["failed"].items():
                    told.setdefault(f"- {name}, {way}: `{why}`: ", []).append(case)
    lines += [head + "; ".join(dict.fromkeys(those)) + "." for head, those in told.items()]
    for way, of_way in board["memory"].items():
        lines += _memory_failures(way, of_way)
    return lines


def _memory_failures(way: str, of_way: Mapping[str, Any]) -> Sequence[str]:
    return [
        f"- {name}, {way}, {number} in flight without answers: `{about}`."
        for name, each in of_way.items()
        for number, about in each["flying"].items()
        if isinstance(about, str)
    ]
