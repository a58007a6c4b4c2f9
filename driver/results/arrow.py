"""Results as Apache Arrow's data: a row factory that decodes no rows, tables and streams of pages.

Loaded when it is asked for: what asks for no Arrow pays nothing for it.
"""

from __future__ import annotations

from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..protocol.columns import ColumnMetadata
from ..types import marshal
from ..types.framing import pack_part
from ..wire.arrow.fields import ArrowOptions, fields_of
from ..wire.arrow.page import ArrowBatch, parse_page, schema_capsule, stream_capsule
from ..wire.codec import RESPONSES_BY_OPCODE, ProtocolHandler
from ..wire.responses import ResultMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..types.base import CQLType
    from ..wire.arrow.fields import Field
    from ..wire.arrow.page import Capsule
    from ..wire.messages import ColumnEncryptionPolicy, Response

__all__ = ["ArrowBatch", "ArrowFactory", "ArrowStream", "ArrowTable", "arrow_factory"]

#: Values are the same bytes in all versions that are spoken.
_PROTOCOL_VERSION: Final = 4


class ArrowFactory:
    """A row factory that makes an ``ArrowBatch`` of each page, straight from its frame.

    Two are equal if what they make is.

    Attributes:
        options: what becomes of decimals and varints.
        protocol_handler: reads the frames of requests with this factory.
    """

    def __init__(
        self, *, decimal: tuple[int, int] | None = None, varint: int | None = None
    ) -> None:
        """Say what becomes of numbers whose size CQL does not limit.

        Args:
            decimal: digits in all (at most 76), and digits after the point, of all decimals; a
                value that has more of either is a ``ColumnDecodeError``. By default decimals are
                text, which holds all of them.
            varint: digits of all varints (at most 76); the same.

        Raises:
            TypeError: they are no such numbers.
            ValueError: Arrow has no such decimals.
        """
        try:
            whole, after = map(index, (1, 0) if decimal is None else decimal)
            numbers = ((whole, after), (index(1 if varint is None else varint), 0))
        except (TypeError, ValueError):
            raise TypeError(
                "decimal is a pair of numbers of digits, in all and after the point, and varint "
                f"one such number, not {decimal!r} and {varint!r}"
            ) from None
        self.options = ArrowOptions(decimal and numbers[0], varint)
        for digits, scale in numbers:
            if not 0 < digits <= 76 or not 0 <= scale <= digits:
                raise ValueError(
                    "Arrow's decimals have 1 to 76 digits, of which some are after the point, "
                    f"not {digits} and {scale}"
                )
        self.protocol_handler = _handler_of(self.options)

    def __call__(self, colnames: Sequence[str], rows: Iterable[ArrowBatch]) -> Iterable[ArrowBatch]:  # noqa: ARG002  (every factory takes names and rows)
        """The page as it is: one batch, which a result set has as its one row."""
        return rows

    def __eq__(self, other: object) -> bool:
        """Whether both make the same."""
        return self.options == other.options if isinstance(other, ArrowFactory) else NotImplemented

    def __hash__(self) -> int:
        """As they compare."""
        return hash(self.options)

    def __repr__(self) -> str:
        """How it is made."""
        return f"ArrowFactory(decimal={self.options.decimal!r}, varint={self.options.varint!r})"


@cache
def _handler_of(options: ArrowOptions) -> type[ProtocolHandler]:
    """The protocol handler whose pages are batches."""

    def parse(
        body: bytes,
        offset: int,
        columns: Sequence[ColumnMetadata],
        deserializers: object,  # noqa: ARG001  (as other parsers of rows take them)
        protocol_version: int,
        policy: ColumnEncryptionPolicy | None,
    ) -> ArrowBatch:
        fields, decrypts = fields_of(columns, policy, options)
        return parse_page(body, offset, columns, fields, decrypts, protocol_version)

    class ArrowResultMessage(ResultMessage):
        """A result whose rows are an ``ArrowBatch``."""

        __slots__ = ()
        row_parser = staticmethod(parse)

    class ArrowProtocolHandler(ProtocolHandler):
        """Rows become Arrow's columns."""

        message_types_by_opcode: ClassVar[Mapping[int, type[Response]]] = {
            **RESPONSES_BY_OPCODE,
            ResultMessage.opcode: ArrowResultMessage,
        }

    return ArrowProtocolHandler


#: Pages as Arrow's data, decimals and varints as text.
arrow_factory: Final = ArrowFactory()


def batch_of(
    rows: list[Any],
    names: Sequence[str] | None,
    types: Sequence[type[CQLType]] | None,
) -> ArrowBatch:
    """The rows of a page as Arrow's columns.

    Rows that were decoded are written again: ``arrow_factory`` spares both.

    Raises:
        TypeError: the result has no rows, or they are not those of the driver's row factories.
    """
    if isinstance(rows, list) and len(rows) == 1 and isinstance(rows[0], ArrowBatch):
        return rows[0]
    if names is None or types is None:
        raise TypeError("this result has no rows that could become Arrow's")
    columns = [
        ColumnMetadata("", "", name, cqltype) for name, cqltype in zip(names, types, strict=True)
    ]
    parts = [marshal.int32_pack(len(rows))]
    for row in rows:
        if isinstance(row, dict):
            values: Sequence[Any] = [row[name] for name in names]
        elif isinstance(row, tuple | list) and len(row) == len(names):
            values = row
        else:
            raise TypeError(
                f"rows of {type(row).__name__} do not become Arrow's: execute with "
                "row_factory=driver.arrow_factory"
            )
        for cqltype, value in zip(types, values, strict=True):
            parts.append(pack_part(cqltype, value, _PROTOCOL_VERSION))
    fields, decrypts = fields_of(columns, None, arrow_factory.options)
    return parse_page(b"".join(parts), 0, columns, fields, decrypts, _PROTOCOL_VERSION)


class ArrowTable:
    """All rows of a result, in memory, as Arrow's columns: a batch a page.

    What takes Arrow's data takes this object, as often as it is asked for.

    Attributes:
        batches: the pages, at least one.
    """

    __slots__ = ("batches",)

    def __init__(self, batches: Sequence[ArrowBatch]) -> None:
        """Hold batches of one schema."""
        self.batches = tuple(batches)

    @property
    def num_rows(self) -> int:
        """How many rows."""
        return sum(batch.num_rows for batch in self.batches)

    @property
    def nbytes(self) -> int:
        """Bytes of all buffers."""
        return sum(batch.nbytes for batch in self.batches)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return self.batches[0].column_names

    def __arrow_c_schema__(self) -> Capsule:
        """A capsule of Arrow's schema."""
        return schema_capsule(self.batches[0].fields)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Capsule:
        """A capsule of a stream of all batches; the schema is this one's, whichever is wanted."""
        return stream_capsule(self.batches[0].fields, iter(self.batches))

    def __repr__(self) -> str:
        """How large it is."""
        return (
            f"<ArrowTable: {self.num_rows} rows of {len(self.column_names)} columns, "
            f"{len(self.batches)} batches>"
        )


class ArrowStream:
    """The pages of a result as Arrow's batches, each fetched when it is asked for; to read once.

    Iterate over it, or hand it to what takes a stream of Arrow's data: that may ask for pages on
    threads of its own, but not on the thread that reads answers.

    Attributes:
        error: what fetching a page failed with. Iterating raises it; what takes a stream gets its
            text, and raises an error of its own.
    """

    def __init__(self, first: ArrowBatch, next_page: Callable[[], ArrowBatch | None]) -> None:
        """Begin with a page.

        Args:
            first: the page that is there.
            next_page: fetches the next one; None after the last.
        """
        self.error: BaseException | None = None
        self._fields: tuple[Field, ...] = first.fields
        self._batches = self._read(first, next_page)
        self._is_taken = False

    def _read(
        self, first: ArrowBatch, next_page: Callable[[], ArrowBatch | None]
    ) -> Iterator[ArrowBatch]:
        batch: ArrowBatch | None = first
        del first  # what was read is the reader's alone
        try:
            while batch is not None:
                yield batch
                batch = next_page()
        except Exception as error:
            self.error = error
            raise

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return [field.name for field in self._fields]

    def __iter__(self) -> Iterator[ArrowBatch]:
        """The batches that were not read yet."""
        return self._batches

    def __next__(self) -> ArrowBatch:
        """The next batch."""
        return next(self._batches)

    def __arrow_c_schema__(self) -> Capsule:
        """A capsule of Arrow's schema."""
        return schema_capsule(self._fields)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Capsule:
        """A capsule of a stream of the batches that were not read yet.

        Raises:
            RuntimeError: it was asked for before: ``to_arrow()`` gives what can be read again.
        """
        if self._is_taken:
            raise RuntimeError(
                "the pages of this result were handed out already; to_arrow() keeps them"
            )
        self._is_taken = True
        return stream_capsule(self._fields, self._batches)
