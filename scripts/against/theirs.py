"""cassandra-driver, or scylla-driver, which took over its names."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from cassandra import protocol
from cassandra.connection import locally_supported_compressions
from cassandra.metadata import Murmur3Token
from cassandra.query import PreparedStatement

from asv_benchmarks import recordings

from .operations import STREAM, VERSION, files_of

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = ("row_parser", "deserializers", "obj_parser", "protocol", "query", "cmurmur3")


def _features() -> tuple[Any, ...]:
    """What scylla-driver wants to know of a connection; nothing for cassandra-driver."""
    try:
        from cassandra.protocol_features import ProtocolFeatures  # noqa: PLC0415
    except ImportError:
        return ()
    return (ProtocolFeatures(),)


class Theirs:
    """The package ``cassandra``."""

    def __init__(self) -> None:
        """Whichever of the two is installed."""
        self.name = next(
            name for name in ("scylla-driver", "cassandra-driver") if _is_installed(name)
        )
        self._before = _features()

    def modules(self) -> dict[str, str]:
        """As `Driver` says."""
        return files_of("cassandra", MODULES)

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """As `Driver` says."""
        asked = frame.about["prepared"]
        columns = self._message(asked).column_metadata if asked else None
        return partial(
            protocol.ProtocolHandler.decode_message, VERSION, *self._before, {}, STREAM,
            frame.flags, frame.opcode, frame.body, None, columns,
        )  # fmt: skip

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        message = self._message(f"prepared_{name}")
        frame = recordings.frame(f"prepared_{name}")
        return PreparedStatement(
            message.bind_metadata, message.query_id, message.pk_indexes, frame.about["query"],
            None, VERSION, message.column_metadata, None,
        )  # fmt: skip

    def query_message(self, text: str, consistency: int) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return protocol.QueryMessage(text, consistency)

    def execute_message(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return protocol.ExecuteMessage(*args, **kwargs)

    def encode(self, message: Any, compression: str | None = None) -> Callable[[], bytes]:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        encode = protocol.ProtocolHandler.encode_message
        compress = locally_supported_compressions[compression][0] if compression else None
        return partial(encode, message, STREAM, VERSION, compress, False, *self._before)

    def token(self, key: bytes) -> int:
        """As `Driver` says."""
        return int(Murmur3Token.hash_fn(key))

    def _message(self, name: str) -> Any:  # noqa: ANN401  (it is not typed)
        frame = recordings.frame(name)
        return protocol.ProtocolHandler.decode_message(
            VERSION, *self._before, {}, STREAM, frame.flags, frame.opcode, frame.body, None, None
        )


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
