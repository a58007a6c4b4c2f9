"""``cassandra.obj_parser``, ``.numpy_parser``, ``.row_parser``, ``.parsing``, ``.bytesio``.

There, row parsers are objects of the compiled part, and a protocol handler is made from one with
``cython_protocol_handler(parser)``. Here a parser is one function of ``driver.wire.rows``, which
each of these classes holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...protocol.columns import ColDesc, ColumnMetadata
from ...wire.codec import RESPONSES_BY_OPCODE, ProtocolHandler
from ...wire.responses.result import ResultMessage
from ...wire.rows import LazyRows, parse_columns, parse_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...types.deserializers import Deserializer
    from ...wire.messages import ColumnEncryptionPolicy


@dataclass
class BytesIOReader:
    """Bytes and a position in them."""

    buf: bytes
    pos: int = 0


@dataclass
class ParseDesc:
    """What there is to know about the columns of a result."""

    colnames: Sequence[str]
    coltypes: Sequence[Any]
    column_encryption_policy: ColumnEncryptionPolicy | None
    coldescs: Sequence[ColDesc] | None
    deserializers: Sequence[Deserializer]
    protocol_version: int


class ColumnParser:
    """Parses the rows of a result."""

    row_parser: ClassVar[Callable[..., Any]]

    def parse_rows(self, reader: BytesIOReader, desc: ParseDesc) -> Any:
        """The rows at a reader's position, which is at their number."""
        descriptions = desc.coldescs or [ColDesc("", "", name) for name in desc.colnames]
        columns = [
            ColumnMetadata(*description, cqltype)
            for description, cqltype in zip(descriptions, desc.coltypes, strict=True)
        ]
        return type(self).row_parser(
            reader.buf,
            reader.pos,
            columns,
            desc.deserializers,
            desc.protocol_version,
            desc.column_encryption_policy,
        )


class ListParser(ColumnParser):
    """Rows become a list of tuples."""

    row_parser = staticmethod(parse_rows)


class LazyParser(ColumnParser):
    """Rows are decoded when they are iterated over."""

    row_parser = LazyRows


class NumpyParser(ColumnParser):
    """Rows become a dict of column name -> NumPy array."""

    row_parser = staticmethod(parse_columns)


def parse_rows_lazy(reader: BytesIOReader, desc: ParseDesc) -> Any:
    """Rows that are decoded when they are iterated over."""
    return LazyParser().parse_rows(reader, desc)


def _result_message(colparser: ColumnParser) -> type[ResultMessage]:
    """A result whose rows a parser reads."""
    parser = staticmethod(type(colparser).row_parser)
    return type("ResultMessage", (ResultMessage,), {"row_parser": parser})


#: What reading rows sets on a message.
_OF_ROWS = (
    "paging_state",
    "result_metadata_id",
    "column_metadata",
    "column_names",
    "column_types",
    "parsed_rows",
)


def make_recv_results_rows(colparser: ColumnParser) -> Callable[..., None]:
    """A method ``recv_results_rows`` for a ``ResultMessage``, with which a parser reads rows."""
    kind = _result_message(colparser)

    def recv_results_rows(self: ResultMessage, *arguments: Any) -> None:
        """Read the metadata and the rows of a result."""
        read = kind(self.kind or 0)
        read.recv_results_rows(*arguments)
        for name in _OF_ROWS:
            setattr(self, name, getattr(read, name))

    return recv_results_rows


def cython_protocol_handler(colparser: ColumnParser) -> type[ProtocolHandler]:
    """A protocol handler with which a parser reads rows."""
    kind = _result_message(colparser)
    return type(
        "CythonProtocolHandler",
        (ProtocolHandler,),
        {"message_types_by_opcode": {**RESPONSES_BY_OPCODE, kind.opcode: kind}},
    )
