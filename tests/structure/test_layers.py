"""The layers of driver/: a module imports only from lower layers or its own folder, relatively.

What only type checkers read may come from above: a statement has a retry policy, which it hands on.
"""

import ast
from pathlib import Path

import pytest

from tests.structure.test_cycles import runtime_nodes

ROOT = Path(__file__).resolve().parents[2]
LAYERS = {
    "protocol": 0,
    "values": 1,
    "types": 2,
    "wire": 3,
    "statements": 4,
    "topology": 4,
    "policies": 5,
    "auth": 5,
    "net": 6,
    "pool": 7,
    "results": 7,
    "execution": 8,
    "cluster": 9,
    "aio": 10,
    "compat": 11,
}
MODULES = sorted(
    path.relative_to(ROOT)
    for path in (ROOT / "driver").rglob("*.py")
    if len(path.relative_to(ROOT).parts) > 2 and "_cython" not in path.parts
)


def imported_folders(path):
    """(line, folder or None for an absolute import of the driver) for each import of the driver."""
    here = path.parts[:-1]
    for node in runtime_nodes(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "driver":
                    yield node.lineno, None
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                if (node.module or "").split(".")[0] == "driver":
                    yield node.lineno, None
                continue
            base = here[: len(here) - (node.level - 1)]
            target = [*base, *(node.module.split(".") if node.module else [])]
            names = [[*target, a.name] for a in node.names] if len(target) == 1 else [target]
            for name in names:
                yield node.lineno, name[1]


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_module_imports_only_from_lower_layers(path):
    folder = path.parts[1]
    wrong = []
    for line, target in imported_folders(path):
        if target is None:
            wrong.append(f"{path}:{line}: absolute import of the driver")
        elif target in LAYERS and target != folder and LAYERS[target] >= LAYERS[folder]:
            wrong.append(f"{path}:{line}: {folder} (layer {LAYERS[folder]}) imports {target}")
    assert not wrong, "\n".join(wrong)


def test_every_folder_of_the_driver_has_a_layer():
    folders = {path.parts[1] for path in MODULES}
    assert folders <= set(LAYERS), folders - set(LAYERS)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "harness").rglob("*.py")), ids=lambda path: path.name
)
def test_the_harness_never_imports_the_driver(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        assert not any(name.split(".")[0] == "driver" for name in names), f"line {node.lineno}"


@pytest.mark.parametrize(
    "path", sorted(path for top in ("driver", "harness") for path in (ROOT / top).rglob("*.py")),
    ids=str,
)  # fmt: skip
def test_a_module_says_its_job_in_its_first_line(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, f"{path} has no docstring"
