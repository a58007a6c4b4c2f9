"""Keeps folders that we write by default out of what git shows of somebody's checkout.

What a person names (`--json`, `--results`) is theirs. A folder that holds a committed file, or that
the project ignores already, is left alone; another one gets a line in a `.gitignore` beside it that
names itself too. To commit such a folder, remove that file, or `git add --force` once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import files

if TYPE_CHECKING:
    from pathlib import Path

    from .checkout import Checkout

MARK = "# written by benchproof: what it writes by default is not committed by accident\n"


def hide(checkout: Checkout, folder: Path) -> None:
    """Let git show nothing of a folder, which need not exist yet.

    Raises:
        BenchproofError: the line cannot be written.
    """
    root, folder = checkout.root.resolve(), folder.resolve()
    if not folder.is_relative_to(root) or not checkout.shows(str(folder.relative_to(root))):
        return
    ignore = folder.parent / ".gitignore"
    text = ignore.read_text(encoding="utf-8") if ignore.is_file() else f"{MARK}/.gitignore\n"
    if text.startswith(MARK):
        files.write(f"{text}/{folder.name}/\n", ignore)
    else:
        files.write(f"{MARK}*\n", folder / ".gitignore")
