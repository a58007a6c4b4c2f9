"""Text from a run, made harmless inside Markdown.

A pull request chooses the names of its benchmarks, its commits' subjects and what its exceptions
say. Where a job with a token repeats them, they must not become markup, links or mentions: so all
of them are shown as code, in which nothing is.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape

#: The longest piece of a run's text that is shown.
LONGEST = 160
#: Words that no renderer turns into anything else.
_HARMLESS = re.compile(r"(?!.*(www\.|:/))[\w ,.;:()%+=?/-]*", re.ASCII | re.IGNORECASE)
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


def plain(text: object, longest: int = LONGEST) -> str:
    """One line without control, formatting and unassigned characters, cut to a length."""
    visible = (
        " " if character.isspace() else character
        for character in str(text)
        if character.isspace() or unicodedata.category(character)[0] != "C"
    )
    line = " ".join("".join(visible).split())
    return line if len(line) <= longest else line[: longest - 1] + ELLIPSIS


def code(text: object, longest: int = LONGEST) -> str:
    """A run's text as code that holds also in a table's cell; empty for nothing."""
    line = plain(text, longest).replace("`", "'").replace("|", "\N{BROKEN BAR}")
    return f"`{line}`" if line else ""


def prose(text: object, longest: int = LONGEST) -> str:
    """A run's text as it is where it is harmless words, else as code."""
    line = plain(text, longest)
    return line if _HARMLESS.fullmatch(line) and "_" not in line else code(line, longest)


def html(text: object, longest: int = LONGEST) -> str:
    """A run's text inside HTML, where code needs a tag."""
    line = escape(plain(text, longest).replace("`", "'"), quote=False).replace("|", "&#124;")
    return f"<code>{line}</code>" if line else ""
