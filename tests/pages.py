"""The pages of the documentation, and the examples in them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "guides").glob("*.md")),
]
_FENCED = re.compile(r"^```([^\n`]+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def examples(page, info):
    """The code of a page's fenced blocks with exactly this info string, in order."""
    return [code for found, code in _FENCED.findall(page.read_text("utf-8")) if found == info]
