"""A comparison with other projects as a page of the site: what its own program tells of it.

It shows what the program that measured has kept (`FILE`); nothing is measured or ranked here.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: In the folder of reports, and what is in it.
FILE, KIND, SCHEMA = "leaderboard.json", "leaderboard", 1


def page(board: Mapping[str, Any], why: str) -> dict[str, Any]:
    """What the page is told; `board` is the contents of `FILE`, or empty.

    Raises:
        KeyError, TypeError, AttributeError: those contents are something else.
    """
    if not board:
        return {"why": why, "board": None}
    picture = board["picture"].encode()
    return {
        "why": why,
        "board": {
            "title": str(board["title"]),
            "paragraphs": [str(each) for each in board["paragraphs"]],
            # A picture of its own: its styles are not the page's, and its scripts do not run.
            "picture": f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}",
            "about_picture": str(board["about_picture"]),
            "tables": [
                {
                    "title": str(table["title"]),
                    "columns": [str(name) for name in table["columns"]],
                    "rows": [
                        [{"text": str(cell["text"]), "best": bool(cell["best"])} for cell in row]
                        for row in table["rows"]
                    ],
                }
                for table in board["tables"]
            ],
            "notes": [str(each) for each in board["notes"]],
        },
    }
