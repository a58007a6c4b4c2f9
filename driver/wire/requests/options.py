"""Options behind the timestamp of a request, each announced by a flag: section 4.1.4.

A message holds those that were asked for, and nothing where there are none, as nearly always.
Another one is one more line of ``RequestWithOptions``, and one of ``RequestOptions`` of
``driver.execution.options``, by which users ask for it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from io import BytesIO
from operator import index
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Generic,
    Self,
    SupportsIndex,
    TypeVar,
    overload,
)

from ...protocol.errors import UnsupportedOperation
from ...protocol.version import ProtocolVersion
from ..messages import Request
from ..primitives import write_int, write_string

if TYPE_CHECKING:
    from collections.abc import Callable

_Value = TypeVar("_Value")
#: What a user may ask of a request: its type, how many bits it has beside a sign, what it is.
_ASKED: Final[dict[str, tuple[type, int, str]]] = {
    "consistency_level": (SupportsIndex, 16, "a ConsistencyLevel"),
    "serial_consistency_level": (SupportsIndex, 16, "a ConsistencyLevel"),
    "fetch_size": (SupportsIndex, 31, "a number of rows"),
    "paging_state": (bytes, 0, "a bytes object that a result gave"),
    "timestamp": (SupportsIndex, 63, "a number of microseconds since the epoch"),
    "keyspace": (str, 0, "a name"),
    "now_in_seconds": (SupportsIndex, 31, "a number of seconds since the epoch, in 32 bits"),
    "query": (str, 0, "a text of CQL"),
    "custom_payload": (Mapping, 0, "a mapping of names to bytes"),
}


def naming_option(error: Exception, message: object) -> Exception:
    """What sending a request failed with; if an option cannot be written, that, by its name."""
    if isinstance(error, TypeError | struct.error):
        for name, (kind, bits, what) in _ASKED.items():
            value = getattr(message, name, None)
            can_be_none = name != "query" or not hasattr(message, name)
            if (value is None and can_be_none) or (isinstance(value, kind) and _fits(value, bits)):
                continue
            told = TypeError(f"{name} is {what}, not {value!r}")
            told.__cause__ = error
            return told
    return error


def _fits(value: object, bits: int) -> bool:
    """Whether a number has no more bits, and a mapping names and bytes; a text has any number."""
    if isinstance(value, Mapping):
        return all(
            isinstance(name, str) and isinstance(data, bytes | None) for name, data in value.items()
        )
    return not isinstance(value, SupportsIndex) or -(2**bits) <= index(value) < 2**bits


def check_carried(what: str, is_carried: bool, protocol_version: int) -> None:
    """What came with v5 needs it.

    Raises:
        UnsupportedOperation: for earlier versions.
    """
    if not is_carried:
        raise UnsupportedOperation(
            f"{what} needs protocol v5 or later; this connection has v{protocol_version}"
        )


class _Option(Generic[_Value]):
    """One of them, as an attribute of messages: None does not send it."""

    def __init__(
        self,
        flag: int,
        write: Callable[[BytesIO, _Value], None],
        is_carried: Callable[[int], bool],
        what: str = "",
    ) -> None:
        """Say how it goes into a frame.

        Args:
            flag: what announces it.
            write: writes its value.
            is_carried: whether a version of the protocol has it.
            what: its name in an error; by default that of the attribute.
        """
        self.flag = flag
        self.write = write
        self.is_carried = is_carried
        self.what = what

    def __set_name__(self, owner: type[RequestWithOptions], name: str) -> None:
        self.name = name
        self.what = self.what or name
        owner.OPTIONS = {**owner.OPTIONS, name: self}

    @overload
    def __get__(self, message: None, owner: type) -> Self: ...

    @overload
    def __get__(self, message: RequestWithOptions, owner: type) -> _Value | None: ...

    def __get__(self, message: RequestWithOptions | None, owner: type) -> Self | _Value | None:
        if message is None:
            return self
        return None if message.options is None else message.options.get(self.name)

    def __set__(self, message: RequestWithOptions, value: _Value | None) -> None:
        others = {k: v for k, v in (message.options or {}).items() if k != self.name}
        options = (others if value is None else {**others, self.name: value}) or None
        message.options = options  # type: ignore[misc]  # subclasses have a slot for it


class RequestWithOptions(Request):
    """A QUERY, an EXECUTE or a BATCH.

    Attributes:
        OPTIONS: by name, in the order of the frame.
        options: the values of those that were asked for; None if none was.
        keyspace: in which the request is executed, in place of that of the connection (v5).
        now_in_seconds: what the server shall take for the current time, in seconds since the epoch
            (v5); for tests of expiring data.
    """

    __slots__ = ()

    OPTIONS: ClassVar[dict[str, _Option[Any]]] = {}
    options: dict[str, Any] | None = None

    keyspace = _Option(
        0x80, write_string, ProtocolVersion.uses_keyspace_flag, "a keyspace on a request"
    )
    now_in_seconds = _Option(0x100, write_int, ProtocolVersion.uses_int_query_flags)

    def options_flags(self, protocol_version: int) -> int:
        """The flags that announce the options.

        Raises:
            UnsupportedOperation: this version does not have one of them.
        """
        flags = 0
        for name in self.options or ():
            option = self.OPTIONS[name]
            check_carried(option.what, option.is_carried(protocol_version), protocol_version)
            flags |= option.flag
        return flags

    def options_bytes(self) -> bytes:
        """The values of the options, in the order of the frame."""
        f, given = BytesIO(), self.options or {}
        for name, option in self.OPTIONS.items():
            if name in given:
                option.write(f, given[name])
        return f.getvalue()
