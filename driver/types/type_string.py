"""The grammar of type strings: Cassandra's class names and CQL's own notation.

::

    class  = name [ "(" [ argument { "," argument } ] ")" ]
    argument = [ label ( ":" | "=>" ) ] class
    cql    = name [ "<" cql { "," cql } ">" ]

A name is a run of letters, digits and ``. _ - $ + @ #``, in CQL also an identifier in double quotes
(doubled inside) or a class name in single quotes. Numbers are names: ``VectorType(FloatType, 3)``.
Both notations give the same tree; ``registry`` gives it meaning.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

#: Nesting that is deeper than this is no type but an attack on the stack.
MAX_DEPTH: Final = 64

_NAME = r"[\w.\-$+@#]+"
_TOKEN = re.compile(
    rf"""\s*(?:(?P<name>{_NAME})|(?P<quoted>"(?:[^"]|"")+")|(?P<custom>'[^']+')
    |(?P<mark>=>|[():,<>]))""",
    re.VERBOSE,
)
_PLAIN_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]*")


class Argument(NamedTuple):
    """A type as parsed: a name with arguments, perhaps labelled.

    Attributes:
        name: of the type, as written, without quotes.
        arguments: in order.
        label: the name in front of ``:`` or ``=>``, or None.
        quoted: the quotation mark that the name stood in, or empty.
    """

    name: str
    arguments: tuple[Argument, ...] = ()
    label: str | None = None
    quoted: str = ""


class _Reader:
    """A cursor over the tokens of one type string."""

    def __init__(self, text: str, opening: str, closing: str) -> None:
        self.text = text
        self.opening = opening
        self.closing = closing
        self.tokens = self._tokens()
        self.position = 0

    def _tokens(self) -> list[tuple[str, str]]:
        """(kind, text) of each token, with an end mark."""
        tokens, at, end = [], 0, len(self.text.rstrip())
        while at < end:
            match = _TOKEN.match(self.text, at, end)
            if match is None:
                raise self.error(f"{self.text[at:].strip()[:1]!r} does not belong here")
            tokens.append((match.lastgroup or "", match.group(match.lastgroup or 0)))
            at = match.end()
        return [*tokens, ("end", "")]

    def error(self, problem: str) -> ValueError:
        return ValueError(f"Don't know how to parse type string {self.text!r}: {problem}")

    def peek(self) -> str:
        kind, text = self.tokens[self.position]
        return text if kind == "mark" else kind

    def take(self) -> tuple[str, str]:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def type(self, depth: int = 0) -> Argument:
        """One type with its arguments."""
        if depth > MAX_DEPTH:
            raise self.error(f"nested deeper than {MAX_DEPTH}")
        kind, text = self.take()
        if kind not in ("name", "quoted", "custom"):
            raise self.error(f"a name is missing before {text or 'the end'!r}")
        quoted = "" if kind == "name" else text[0]
        name = text if not quoted else text[1:-1].replace('""', '"')
        if self.peek() in (":", "=>"):
            self.take()
            return self.type(depth + 1)._replace(label=name)
        arguments = self.arguments(depth + 1) if self.peek() == self.opening else ()
        return Argument(name, arguments, None, quoted)

    def arguments(self, depth: int) -> tuple[Argument, ...]:
        """The bracketed list after a name."""
        self.take()
        if self.peek() == self.closing:
            self.take()
            return ()
        found = [self.type(depth)]
        while self.peek() == ",":
            self.take()
            found.append(self.type(depth))
        if self.peek() != self.closing:
            raise self.error(f"{self.closing!r} is missing")
        self.take()
        return tuple(found)


def _parse(text: str, opening: str, closing: str) -> Argument:
    reader = _Reader(text, opening, closing)
    parsed = reader.type()
    if reader.peek() != "end":
        raise reader.error(f"{reader.take()[1]!r} is too much")
    return parsed


def parse_casstype(text: str) -> Argument:
    """Parse Cassandra's class names.

    Raises:
        ValueError: the text does not follow the grammar.
    """
    return _parse(text, "(", ")")


def parse_cqltype(text: str) -> Argument:
    """Parse a type in CQL.

    Raises:
        ValueError: the text does not follow the grammar.
    """
    return _parse(text, "<", ">")


def quote_identifier(name: str) -> str:
    """A CQL identifier, in double quotes unless it is plain lower case."""
    if _PLAIN_IDENTIFIER.fullmatch(name):
        return name
    return '"' + name.replace('"', '""') + '"'
