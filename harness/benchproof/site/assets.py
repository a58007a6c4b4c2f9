"""What every page loads: the style, the scripts, and uPlot, which draws the graphs."""

from __future__ import annotations

import hashlib
import shutil
from importlib import resources
from typing import TYPE_CHECKING

from markupsafe import Markup

from benchproof.errors import SiteError
from benchproof.render.charts import DARK, LIGHT

if TYPE_CHECKING:
    from pathlib import Path

#: The vendored library, and the SHA-256 of its files: they are those of its release, unchanged.
UPLOT = "1.6.32"
SUMS = {
    "uplot/uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot/uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    "uplot/LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
}

#: Two colours that colour-blind people tell apart (Okabe and Ito), each with 3:1 on its ground.
PAIR = {
    "light": {"python": "#d55e00", "cython": "#0072b2", "ratio": "#1c2330"},
    "dark": {"python": "#e69f00", "cython": "#56b4e9", "ratio": "#e7eaf0"},
}
#: Text colours of states, 4.5:1 on both grounds of their scheme.
STATES = {
    "light": {"regressed": "#b34700", "improved": "#00704f", "equivalent": "#005a8d",
              "undecided": "#5a6372", "broken": "#8c3a6b", "platform": "#6a4a9c",
              "panel": "#f4f6f9", "line": "#d6dbe3", "link": "#005a8d"},
    "dark": {"regressed": "#ff9a56", "improved": "#3fd0a0", "equivalent": "#7cc4f0",
             "undecided": "#a6aebb", "broken": "#e6a3c8", "platform": "#c3aef0",
             "panel": "#1c222c", "line": "#39414f", "link": "#7cc4f0"},
}  # fmt: skip
_GROUND = ("ground", "ink", "muted", "grid")


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


def palette(scheme: str) -> dict[str, str]:
    """All colours of a scheme, ``light`` or ``dark``, by name."""
    ground = {"light": LIGHT, "dark": DARK}[scheme]
    return {name: ground[name] for name in _GROUND} | STATES[scheme] | PAIR[scheme]


def colours() -> Markup:
    """The colours as style: the system's scheme, unless the reader chose the other."""
    light, dark = (
        " ".join(f"--{name}: {value};" for name, value in palette(scheme).items())
        for scheme in ("light", "dark")
    )
    return Markup(  # noqa: S704  (written from the tables above)
        f":root {{ color-scheme: light; {light} }}\n"
        "@media (prefers-color-scheme: dark) {\n"
        f"  :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }}\n"
        "}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
    )
