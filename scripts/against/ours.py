"""This driver, in either implementation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import driver
from asv_benchmarks import recordings, subjects
from driver.topology.token import Murmur3Token
from driver.wire.compression import locally_supported_compressions
from driver.wire.requests import ExecuteMessage, QueryMessage

from .operations import STREAM, VERSION, files_of

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = ("wire.rows", "types.deserializers", "types.serializers", "topology.token")


class Ours:
    """The package ``driver``."""

    name = "cqlpath"

    def modules(self) -> dict[str, str]:
        """As `Driver` says."""
        return files_of(f"driver{'._cython' if driver.IMPL == 'cython' else ''}", MODULES)

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """As `Driver` says."""
        asked = frame.about["prepared"]
        metadata = subjects.metadata_of(asked) if asked else None
        return partial(
            subjects.handler().decode_message, VERSION, None, {}, STREAM, frame.flags,
            frame.opcode, frame.body, None, metadata,
        )  # fmt: skip

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return subjects.prepared(name)

    def query_message(self, text: str, consistency: int) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return QueryMessage(text, consistency)

    def execute_message(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return ExecuteMessage(*args, **kwargs)

    def encode(self, message: Any, compression: str | None = None) -> Callable[[], bytes]:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        encode = subjects.handler().encode_message
        compress = locally_supported_compressions[compression][0] if compression else None
        return partial(encode, message, STREAM, VERSION, compress, False)

    def token(self, key: bytes) -> int:
        """As `Driver` says."""
        return int(Murmur3Token.hash_fn(key))
