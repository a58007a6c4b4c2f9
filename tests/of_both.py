"""Which tests can come out otherwise in pure Python: what `pytest --of-both` keeps.

Only the modules of `implementation.TWINS` are exchanged; every other module is the same Python on
both implementations, and reaches those by the names that the compiled module and the pure one
share. So a change runs, in pure Python,

- the tests of the layers in which such a module lies (tests/unit/types, tests/unit/wire, ...),
- tests elsewhere that import such a module, or ask which implementation runs,
- beside tests/unit, what imports from such a layer: bytes and values that are held against files
  and against other drivers, the guides, the benchmarks' proofs,
- of tests/integration whole requests to real nodes: what is bound, sent and read (the files are
  named in scripts/parts/table.py).

Left out are tests of the layers around (connections, pools, policies, the cluster). What they
could find in pure Python only is an exchanged name that gives another value, type or error than
its compiled form, in a use that none of the above has; tests/parity compares the two forms on
generated inputs, in the compiled run, for it needs both. A nightly run leaves out nothing.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from driver.implementation import TWINS

TESTS = Path(__file__).resolve().parent
LAYERS = {twin.partition(".")[0] for twin in TWINS}
#: Modules whose import makes a test one of both: exchanged ones, and what decides which form runs.
EXCHANGED = {f"driver.{twin}" for twin in TWINS} | {"driver.implementation"}


def imported(source: str) -> set[str]:
    """The modules that a file imports, at its top or in its functions, and names of them."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


@cache
def can_differ(path: Path) -> bool:
    """Whether the tests of a file can come out otherwise in pure Python."""
    folder, *rest = path.relative_to(TESTS).parts
    if folder in {"integration", "parity"}:
        return folder == "integration"
    if folder == "unit" and rest[0] in LAYERS:
        return True
    source = path.read_text(encoding="utf-8")
    names = imported(source)
    if names & EXCHANGED or "driver.IMPL" in source:
        return True
    return folder != "unit" and any(
        name == f"driver.{layer}" or name.startswith(f"driver.{layer}.")
        for name in names
        for layer in LAYERS
    )
