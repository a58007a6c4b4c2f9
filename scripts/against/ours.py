"""This driver, in either implementation."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import driver
from asv_benchmarks import recordings, subjects
from driver.topology.token import Murmur3Token
from driver.wire.requests import ExecuteMessage

from .operations import ONE, STREAM, TIMESTAMP, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = ("wire.rows", "types.deserializers", "types.serializers", "topology.token")


class Ours:
    """The package ``driver``."""

    name = "hotpath"

    def modules(self) -> dict[str, str]:
        """As `Driver` says."""
        twins = f"driver{'._cython' if driver.IMPL == 'cython' else ''}"
        known = ((name, sys.modules.get(f"{twins}.{name}")) for name in MODULES)
        return {name: str(module.__file__) for name, module in known if module}

    def decode(self, frame: recordings.Recorded) -> Callable[[], Any]:
        """As `Driver` says."""
        metadata = subjects.metadata_of(frame.about["prepared"])
        return partial(
            subjects.handler().decode_message, VERSION, None, {}, STREAM, frame.flags,
            frame.opcode, frame.body, None, metadata,
        )  # fmt: skip

    def prepared(self, name: str) -> Any:  # noqa: ANN401  (it is not typed)
        """As `Driver` says."""
        return subjects.prepared(name)

    def execute(self, name: str, values: tuple[Any, ...]) -> Callable[[], bytes]:
        """As `Driver` says."""
        statement = self.prepared(name)
        message = ExecuteMessage(
            statement.query_id, statement.bind(values).values, ONE, fetch_size=5000,
            timestamp=TIMESTAMP,
        )  # fmt: skip
        encode = subjects.handler().encode_message
        return partial(encode, message, STREAM, VERSION, None, False)

    def token(self, key: bytes) -> int:
        """As `Driver` says."""
        return int(Murmur3Token.hash_fn(key))
