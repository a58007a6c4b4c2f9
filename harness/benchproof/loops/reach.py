"""Which functions a change edits, and whether any benchmark runs the lines that it edits."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from benchproof.checkout import Checkout
from benchproof.plan import SIDES

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class Reach(NamedTuple):
    """What benchmarks run of a change.

    Attributes:
        run: functions of which an edited statement ran.
        missed: those of which none did.
        unseen: files in which lines are not seen: what is compiled, or runs as it is imported.
    """

    run: tuple[str, ...]
    missed: tuple[str, ...]
    unseen: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether nothing of the change can have run in a benchmark."""
        return bool(self.missed) and not self.run and not self.unseen


def look(
    base: str, commit: str, ran: Sequence[Mapping[str, Mapping[str, set[int]]]], checkout: Checkout
) -> Reach:
    """Hold what a change edits against the lines that benchmarks ran.

    Args:
        base: commit of the left side.
        commit: of the right side.
        ran: of each variant, by side and file of the build, the lines.
        checkout: that holds both.
    """
    place = checkout.package
    above = PurePosixPath(place).parent
    did: dict[str, bool] = {}
    unseen = set()
    for file, edited in _edits(base, commit, checkout).items():
        if not (file.startswith(f"{place}/") or file == f"{place}.py"):
            continue
        inner = str(PurePosixPath(file).relative_to(above))
        for side, at, numbers in zip(SIDES, (base, commit), edited, strict=True):
            if not file.endswith(".py"):
                unseen.add(file)
                continue
            lines = {line for each in ran for line in each.get(side, {}).get(inner, ())}
            for function, span in _statements(checkout.read(at, file)):
                if not numbers.isdisjoint(span) and not function:
                    unseen.add(file)
                elif not numbers.isdisjoint(span):
                    name = f"{inner.removesuffix('.py').replace('/', '.')}.{function}"
                    did[name] = did.get(name, False) or not lines.isdisjoint(span)
    run, missed = (tuple(name for name in did if did[name] == each) for each in (True, False))
    return Reach(run, missed, tuple(sorted(unseen)))


def _edits(base: str, commit: str, checkout: Checkout) -> dict[str, tuple[set[int], set[int]]]:
    """By file, the lines that a change takes away on the left and puts there on the right."""
    found: dict[str, tuple[set[int], set[int]]] = {}
    file = ""
    diff = ("diff", "--no-ext-diff", "--no-color", "--no-renames", "--unified=0")
    for line in checkout.ask("-c", "core.quotePath=false", *diff, base, commit).splitlines():
        if line.startswith("diff --git "):
            file = line.rpartition(" b/")[2]
            found[file] = set(), set()
        elif hunk := _HUNK.match(line):
            for numbers, (start, count) in zip(found[file], (hunk.groups()[:2], hunk.groups()[2:]),
                                               strict=True):  # fmt: skip
                numbers.update(range(int(start), int(start) + int(count or 1)))
    return found


def _statements(source: bytes) -> Iterator[tuple[str, range]]:
    """Every statement that runs: its function ("" for none) and its lines, without its body."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while stack:
        node, name, inside = stack.pop()
        for child in ast.iter_child_nodes(node):
            own, within = name, inside
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                own = f"{name}.{child.name}".lstrip(".")
                within = inside or not isinstance(child, ast.ClassDef)
            elif isinstance(child, ast.stmt) and not _is_text(child):
                body = getattr(child, "body", None)
                end = body[0].lineno - 1 if body else child.end_lineno or child.lineno
                yield name if inside else "", range(child.lineno, max(end, child.lineno) + 1)
            stack.append((child, own, within))


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, or another constant that nothing runs."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
