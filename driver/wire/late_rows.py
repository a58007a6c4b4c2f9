"""Late rows: those of a large page, decoded by whoever waits for them and not where they arrive.

A page of thousands of rows takes milliseconds to decode, and the thread that reads answers would
hold up all others meanwhile. So it reads such a page's metadata alone.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ..protocol.kinds import RESULT_KIND_ROWS
from .codec import ProtocolHandler
from .decoding import decode_message
from .responses import ResultMessage
from .rows import LazyRows, parse_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


#: Bytes of a body from which on its rows are late. Of fewer, decoding takes less than it costs to
#: put it off.
LARGE_BODY: Final = 64 * 1024
#: The kind of a result whose rows are late: none of the protocol's, so that nothing is asked of
#: those whose rows are there.
RESULT_KIND_LATE_ROWS: Final = -RESULT_KIND_ROWS
#: Bytes of a body that are decoded in one go: 0.2 ms compiled, 2 ms in pure Python.
_SLICE: Final = 128 * 1024


class LateRows:
    """The rows of a body that was not decoded yet.

    Arguments are a parser of rows, and what it is called with: see ``ResultMessage.row_parser``.
    """

    __slots__ = ("_arguments", "_parser")

    def __init__(self, parser: Callable[..., Any], *arguments: Any) -> None:  # noqa: ANN401  (those of the parser)
        """Decode nothing yet."""
        self._parser = parser
        self._arguments = arguments

    @property
    def has_slices(self) -> bool:
        """Whether the rows are tuples, of which ``slices`` gives some at a time."""
        return self._parser is parse_rows

    @property
    def row_count(self) -> int:
        """How many rows there are, as the frame says: nobody has looked whether there can be."""
        body, offset = self._arguments[:2]
        return int.from_bytes(body[offset : offset + 4], signed=True)

    def all(self) -> Any:  # noqa: ANN401  (what the parser gives)
        """All rows, as the parser gives them; raises what it does."""
        return self._parser(*self._arguments)

    def slices(self) -> Iterator[list[tuple[Any, ...]]]:
        """The rows in lists of some; raises what their parser does, now or at iteration."""
        rows = LazyRows(*self._arguments)
        body = self._arguments[0]
        return rows.slices(len(rows) * _SLICE // len(body) or 1)

    def __repr__(self) -> str:
        """How large they are."""
        return f"<{type(self).__name__}: not decoded, in a body of {len(self._arguments[0])} bytes>"


def late_handler(handler: type[ProtocolHandler]) -> type[ProtocolHandler]:
    """A protocol handler that does what another one does, but that rows are late.

    It is the handler itself, if that decodes messages or reads results in a way of its own.
    """
    if not isinstance(handler, type) or not issubclass(handler, ProtocolHandler):
        return handler
    message_types = handler.message_types_by_opcode
    result: Any = message_types.get(ResultMessage.opcode)
    if (
        getattr(handler.decode_message, "__func__", None) is not decode_message
        or not isinstance(result, type)
        or not issubclass(result, ResultMessage)
        or getattr(result.recv_body, "__func__", None) is not _RECV_BODY
        or result.recv_results_rows is not ResultMessage.recv_results_rows
    ):
        return handler
    known = handler.__dict__.get("_late")
    if known is None or known[0] is not message_types or known[1] is not result.row_parser:
        late = type(
            result.__name__,
            (result,),
            {
                "__slots__": (),
                "recv_results_rows": _recv_late_rows,
                "row_parser": staticmethod(partial(LateRows, result.row_parser)),
            },
        )
        own = {"message_types_by_opcode": {**message_types, ResultMessage.opcode: late}}
        made = handler
        with suppress(TypeError):  # its ``__init_subclass__`` wants to be told something
            made = type(handler.__name__, (handler,), own)
        known = (message_types, result.row_parser, made)
        handler._late = known  # type: ignore[attr-defined]  # noqa: SLF001  (kept as long as it is)
    late_one: type[ProtocolHandler] = known[2]
    return late_one


def _recv_late_rows(message: ResultMessage, *arguments: Any) -> None:  # noqa: ANN401  (see there)
    """``ResultMessage.recv_results_rows``, of rows that are late."""
    ResultMessage.recv_results_rows(message, *arguments)
    message.kind = RESULT_KIND_LATE_ROWS


_RECV_BODY: Final = ResultMessage.recv_body.__func__  # type: ignore[attr-defined]  # of a class method
