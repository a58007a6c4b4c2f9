"""What every page loads: the style, the scripts, and uPlot, which draws the graphs."""

from __future__ import annotations

import hashlib
import shutil
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup

from benchproof.errors import SiteError

if TYPE_CHECKING:
    from pathlib import Path

#: The vendored library, and the SHA-256 of its files: they are those of its release, unchanged.
UPLOT = "1.6.32"
SUMS = {
    "uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot/LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}


def put(folder: Path) -> None:
    """Copy the static files into a folder.

    Raises:
        SiteError: the vendored library is not the one that was pinned.
    """
    source = resources.files("benchproof.site") / "static"
    with resources.as_file(source) as static:
        check(static)
        shutil.copytree(static, folder, dirs_exist_ok=True)


def uplot_style() -> Markup:
    """The library's style sheet, to stand in a page."""
    sheet = resources.files("benchproof.site") / "static" / "uplot" / "uPlot.min.css"
    return Markup(sheet.read_text(encoding="utf-8"))  # noqa: S704  (pinned by its sum)


def check(static: Path) -> None:
    """Hold the vendored files against their sums.

    Raises:
        SiteError: one differs.
    """
    for name, known in SUMS.items():
        if hashlib.sha256((static / name).read_bytes()).hexdigest() != known:
            raise SiteError(f"{name} is not that of uPlot {UPLOT}: install benchproof again")
