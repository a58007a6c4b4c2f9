"""No import cycle in the driver, in functions or not; no long module without a reason."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATHS = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "driver").rglob("*.py")
    if "_cython" not in path.parts
)
LONGEST = 600


def name_of(path):
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): path for path in PATHS}


def runtime_nodes(node):
    """Every node below one, but for what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from runtime_nodes(child)


def imports_of(path):
    """The modules of the driver that a module imports, wherever the import stands in it."""
    package = path.parts[:-1]
    for node in runtime_nodes(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - (node.level - 1)]
            source = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield inner if inner in MODULES else source


def test_no_module_imports_itself_in_a_circle():
    graph = {
        name: {target for target in imports_of(path) if target != name and target in MODULES}
        for name, path in MODULES.items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_long_module_says_why_it_is_long(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if len(text.splitlines()) > LONGEST:
        docstring = ast.get_docstring(ast.parse(text)) or ""
        assert "long because" in docstring.lower(), f"more than {LONGEST} lines, and no reason"
