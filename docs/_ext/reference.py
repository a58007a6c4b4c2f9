"""Sphinx extension: a page of reference for each folder of the driver, from the tree as it is.

The pages go to ``docs/reference/`` before the build reads its sources; git does not keep them, so
that none can describe a module that is gone or leave one out that came.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DRIVER = ROOT / "driver"

#: Folders in the order of their layers, lowest last: a user looks for what is on top.
FOLDERS = (
    "cluster",
    "aio",
    "compat",
    "execution",
    "results",
    "pool",
    "net",
    "policies",
    "auth",
    "statements",
    "topology",
    "wire",
    "types",
    "values",
    "protocol",
)


def modules_of(folder: str) -> list[str]:
    """Dotted names of the public modules in a folder, packages first."""
    paths = sorted((DRIVER / folder).rglob("*.py"), key=lambda p: (len(p.parts), str(p)))
    names = []
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        names.append(".".join(parts).removesuffix(".__init__"))
    return names


def first_line(module: str) -> str:
    """What a module says its job is."""
    path = ROOT.joinpath(*module.split("."))
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def page(folder: str) -> str:
    """The Markdown of a folder's page."""
    parts = [f"# driver.{folder}\n"]
    for module in modules_of(folder):
        heading = f"## {module}\n" if module != f"driver.{folder}" else ""
        directive = f"```{{eval-rst}}\n.. automodule:: {module}\n   :ignore-module-all:\n```\n"
        parts.append(f"{heading}\n{directive}")
    return "\n".join(parts)


def index() -> str:
    """The Markdown of the page that lists the folders."""
    rows = "\n".join(
        f"| [driver.{folder}]({folder}.md) | {first_line(f'driver.{folder}')} |"
        for folder in FOLDERS
        if (DRIVER / folder).is_dir()
    )
    toctree = "\n".join(folder for folder in FOLDERS if (DRIVER / folder).is_dir())
    return (
        "# Reference\n\nEvery public name, from the docstrings; the upper layers come first.\n\n"
        f"| package | what lives there |\n|---|---|\n{rows}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )


def write_pages(app: Sphinx) -> None:
    """Write the pages; one that is the same as before keeps its time, so that it is not reread."""
    target = Path(app.srcdir) / "reference"
    target.mkdir(exist_ok=True)
    pages = {"index.md": index()} | {
        f"{folder}.md": page(folder) for folder in FOLDERS if (DRIVER / folder).is_dir()
    }
    for name, text in pages.items():
        path = target / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Have the pages written before sources are looked for."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
