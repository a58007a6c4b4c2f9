"""The base of statements: the options that every request can set for itself."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from ..protocol.consistency import ConsistencyLevel, consistency_value_to_name
from .routing_key import pack_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..policies.retry import RetryPolicy


class FetchSizeUnset:
    """The class of ``FETCH_SIZE_UNSET``."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The public name."""
        return "FETCH_SIZE_UNSET"

    def __reduce__(self) -> str:
        """Pickle by name, so that identity survives."""
        return "FETCH_SIZE_UNSET"


#: The session's default page size is to be used; None would switch paging off.
FETCH_SIZE_UNSET: Final = FetchSizeUnset()


class Statement:
    """A request and its options. What is None is left to the session's defaults.

    Attributes:
        consistency_level: a ``ConsistencyLevel``.
        retry_policy: what decides about trying again; this layer only carries it.
        fetch_size: rows a page; None switches paging off.
        keyspace: the keyspace that the statement works on: it routes, and from v5 on it is sent.
        table: the table that the statement works on, for routing by tablets.
        custom_payload: bytes by name, for a custom query handler of the server (v4 and later).
        is_idempotent: whether the statement may be executed more than once.
    """

    # Where compiled code finds them; what an application adds is in a dictionary.
    __slots__ = (
        "__dict__",
        "__weakref__",
        "_routing_key",
        "_serial_consistency_level",
        "consistency_level",
        "custom_payload",
        "fetch_size",
        "is_idempotent",
        "keyspace",
        "retry_policy",
        "table",
    )

    def __init__(
        self,
        retry_policy: RetryPolicy | None = None,
        consistency_level: int | None = None,
        routing_key: bytes | str | Sequence[bytes] | None = None,
        serial_consistency_level: int | None = None,
        fetch_size: int | FetchSizeUnset | None = FETCH_SIZE_UNSET,
        keyspace: str | None = None,
        custom_payload: dict[str, bytes | None] | None = None,
        is_idempotent: bool = False,
        table: str | None = None,
    ) -> None:
        """Set options.

        Raises:
            ValueError: the serial consistency level is not a serial one.
        """
        self._routing_key: bytes | None = None
        self._serial_consistency_level: int | None = None
        self.retry_policy = retry_policy
        self.consistency_level = consistency_level
        self.fetch_size = fetch_size
        self.keyspace = keyspace
        self.table = table
        self.custom_payload = custom_payload
        self.is_idempotent = is_idempotent
        if routing_key is not None:
            self.routing_key = routing_key
        if serial_consistency_level is not None:
            self.serial_consistency_level = serial_consistency_level

    @property
    def routing_key(self) -> bytes | None:
        """The serialised partition key, or None; set it to bytes, to text, or to the parts."""
        return self._routing_key

    @routing_key.setter
    def routing_key(self, key: bytes | str | Sequence[bytes] | None) -> None:
        self._set_routing_key(key)

    @routing_key.deleter
    def routing_key(self) -> None:
        self._routing_key = None

    def _set_routing_key(self, key: bytes | str | Sequence[bytes] | None) -> None:
        """Keep a key as bytes, whichever form it was given in."""
        if isinstance(key, str):
            key = key.encode()
        self._routing_key = key if key is None or isinstance(key, bytes) else pack_parts(key)

    def is_lwt(self) -> bool:
        """Whether it is known to be a lightweight transaction, as ScyllaDB says when it prepares.

        Clients that contend for a partition should all ask its replicas in the same order.
        """
        return False

    def _set_serial_consistency_level(self, level: int | None) -> None:
        """Keep a level, if it is a serial one."""
        if level is not None and not ConsistencyLevel.is_serial(level):
            raise ValueError(
                f"{level} is no serial consistency level: there are SERIAL and LOCAL_SERIAL"
            )
        self._serial_consistency_level = level

    def _del_serial_consistency_level(self) -> None:
        """Leave the level to the session's defaults."""
        self._serial_consistency_level = None

    #: Read without a call of Python's: every request asks.
    serial_consistency_level: int | None = property(  # type: ignore[assignment]  # what it gives
        attrgetter("_serial_consistency_level"),
        _set_serial_consistency_level,
        _del_serial_consistency_level,
        """Level of the Paxos phase of a conditional statement: SERIAL, LOCAL_SERIAL or None.

        Raises:
            ValueError: on setting any other level.
        """,
    )

    def _consistency_name(self) -> str:
        """For representations."""
        return consistency_value_to_name(self.consistency_level)
