"""No import cycle in the driver or the harness, lazy or not; no long module without a reason."""

import ast
import graphlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Each package, and the folder that it lies in.
PACKAGES = {"driver": ROOT, "benchproof": ROOT / "harness"}
LONGEST = 600
#: What starts processes, which judging what was measured must never need.
RUNNERS = {"bench", "build", "compare", "fleet", "processes", "worker"}


def modules_of(package, root):
    """The file of each module, by its name."""
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted((root / package).rglob("*.py"))
        if "_cython" not in path.parts
    }


MODULES = {package: modules_of(package, root) for package, root in PACKAGES.items()}
PATHS = [path.relative_to(ROOT) for modules in MODULES.values() for path in modules.values()]


def runtime_nodes(node):
    """Every node below one, but for what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            # Its `else` runs.
            for other in child.orelse:
                yield other
                yield from runtime_nodes(other)
            continue
        yield child
        yield from runtime_nodes(child)


def imports_of(name, modules):
    """The modules of its package that a module imports, wherever the import stands in it."""
    path = modules[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in runtime_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - (node.level - 1)] if node.level else []
            source = ".".join([*base, *(node.module.split(".") if node.module else [])])
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                if found := next((each for each in (inner, source) if each in modules), ""):
                    yield found


def graph_of(modules):
    return {name: set(imports_of(name, modules)) - {name} for name in modules}


def cycle_in(modules):
    """The names in a circle of imports, or none."""
    try:
        graphlib.TopologicalSorter(graph_of(modules)).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_itself_in_a_circle(package):
    found = cycle_in(MODULES[package])
    assert not found, " <- ".join(found)


@pytest.mark.parametrize(
    "line",
    [
        "from . import b",
        "from .b import B",
        "import mypkg.b",
        "from mypkg import b",
        "from mypkg.b import B",
        "def late():\n    from mypkg import b",
        "def late():\n    from .b import B",
    ],
)
def test_a_circle_is_found_however_the_import_is_written(line, tmp_path):
    (tmp_path / "mypkg").mkdir()
    for name, text in {"__init__": "", "a": line, "b": "from mypkg import a"}.items():
        (tmp_path / "mypkg" / f"{name}.py").write_text(text)
    assert set(cycle_in(modules_of("mypkg", tmp_path))) == {"mypkg.a", "mypkg.b"}


def test_judging_reaches_no_runner():
    graph, reached, ahead = graph_of(MODULES["benchproof"]), set(), ["benchproof.judge"]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            # Importing a module imports the packages that it lies in, too.
            ahead += [*graph[name], *filter(None, [name.rpartition(".")[0]])]
    assert "benchproof.verdict" in reached
    assert not reached & {f"benchproof.{name}" for name in RUNNERS}
    assert {f"benchproof.{name}" for name in RUNNERS} <= graph.keys()


def test_commands_are_the_top_of_the_harness():
    prefix = "benchproof.commands"
    importers = {
        name for name, targets in graph_of(MODULES["benchproof"]).items()
        if not name.startswith(prefix) and any(each.startswith(prefix) for each in targets)
    }  # fmt: skip
    assert importers == {"benchproof.cli"}


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_long_module_says_why_it_is_long(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    if len(text.splitlines()) > LONGEST:
        docstring = ast.get_docstring(ast.parse(text)) or ""
        assert "long because" in docstring.lower(), f"more than {LONGEST} lines, and no reason"
