"""Placeholders: the ``%s`` of a simple statement as the ``?`` of one that can be prepared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What the text is made of, as far as it matters here: quoted or a comment; a placeholder; a
#: percent sign that stands for one; and what is left of percent signs and bind markers.
_TOKENS = re.compile(
    r"""
    (?P<opaque> '(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$
              | (?:--|//)[^\n]* | /\*.*?\*/ )
  | %\( (?P<name> [^()]* ) \)s
  | (?P<positional> %s )
  | (?P<percent> %% )
  | (?P<other> [%?] )
    """,
    re.VERBOSE | re.DOTALL,
)


class MarkedText(NamedTuple):
    """A text with bind markers, and where their values are.

    Attributes:
        query: the text, with ``?`` for each value.
        names: the key of each marker's value; None if values are in the order of the markers.
        markers: how many there are.
    """

    query: str
    names: tuple[str, ...] | None
    markers: int

    def values(self, parameters: Sequence[Any] | dict[str, Any]) -> Sequence[Any] | None:
        """The parameters in the order of the markers; None if they are others than it needs."""
        if self.names is None:
            if isinstance(parameters, list | tuple) and len(parameters) == self.markers:
                return parameters
            return None
        if not isinstance(parameters, dict) or not parameters.keys() >= set(self.names):
            return None
        return [parameters[name] for name in self.names]


def with_markers(text: str) -> MarkedText | None:
    """A text with parameters as it would be prepared; None if it cannot be.

    It cannot be if a placeholder is quoted or in a comment, if both kinds of placeholder are in it,
    or if it has none.
    """
    parts: list[str] = []
    names: list[str] = []
    markers = end = 0
    for token in _TOKENS.finditer(text):
        kind, found = token.lastgroup, token.group()
        if kind == "other" or (kind == "opaque" and "%" in found.replace("%%", "")):
            return None
        parts.append(text[end : token.start()])
        end = token.end()
        if kind == "name":
            names.append(token["name"])
        markers += kind in ("name", "positional")
        parts.append("?" if kind in ("name", "positional") else found.replace("%%", "%"))
    if not markers or len(names) not in (0, markers):
        return None
    parts.append(text[end:])
    return MarkedText("".join(parts), tuple(names) or None, markers)
