"""PREPARE, section 4.1.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...protocol.version import ProtocolVersion
from ..messages import Request
from ..primitives import write_longstring, write_string, write_uint
from .options import check_carried

if TYPE_CHECKING:
    from io import BytesIO

WITH_KEYSPACE_FLAG = 0x01


class PrepareMessage(Request):
    """PREPARE: parse a query once, to execute it often.

    Args:
        query: the CQL text.
        keyspace: which keyspace the query is in (v5).
    """

    opcode = 0x09
    name = "PREPARE"

    def __init__(self, query: str, keyspace: str | None = None) -> None:
        """Keep what the class describes."""
        self.query = query
        self.keyspace = keyspace

    def send_body(self, f: BytesIO, protocol_version: int) -> None:
        """Write <query>, and from v5 on <flags>[<keyspace>]."""
        write_longstring(f, self.query)
        if self.keyspace is not None:
            is_carried = ProtocolVersion.uses_keyspace_flag(protocol_version)
            check_carried("a keyspace on a request", is_carried, protocol_version)
        if ProtocolVersion.uses_prepare_flags(protocol_version):
            write_uint(f, 0 if self.keyspace is None else WITH_KEYSPACE_FLAG)
            if self.keyspace is not None:
                write_string(f, self.keyspace)
