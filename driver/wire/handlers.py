"""The protocol handlers to choose from: what becomes of the rows of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .codec import RESPONSES_BY_OPCODE, ProtocolHandler
from .responses import LazyResultMessage, NumpyResultMessage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .messages import Response

__all__ = ["LazyProtocolHandler", "NumpyProtocolHandler", "ProtocolHandler"]


class LazyProtocolHandler(ProtocolHandler):
    """Rows are decoded one by one when a result is iterated over; memory holds one at a time."""

    message_types_by_opcode: ClassVar[Mapping[int, type[Response]]] = {
        **RESPONSES_BY_OPCODE,
        LazyResultMessage.opcode: LazyResultMessage,
    }


class NumpyProtocolHandler(ProtocolHandler):
    """Rows become a dict of column name -> NumPy array, for numeric work on large results."""

    message_types_by_opcode: ClassVar[Mapping[int, type[Response]]] = {
        **RESPONSES_BY_OPCODE,
        NumpyResultMessage.opcode: NumpyResultMessage,
    }
