"""A client that only knows frames, to see what a node sends byte by byte."""

import socket
import struct

from cql_node import OPTIONS, STARTUP
from wire_bodies import parts

from driver.wire import primitives as p


class RawClient:
    """One connection in protocol version 4.

    Args:
        node: where to connect.
        port: which of its ports; the plain one by default.
    """

    def __init__(self, node, port=None):
        self.socket = socket.create_connection((node.host, port or node.port), timeout=10)
        self._stream = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()
        self.socket.close()

    def ask(self, opcode, body=b""):
        """Send a request; flags, opcode and body of the response."""
        self.socket.sendall(struct.pack(">BBhBi", 4, 0, 0, opcode, len(body)) + body)
        _, flags, _, opcode, length = struct.unpack(">BBhBi", self._stream.read(9))
        return flags, opcode, self._stream.read(length)

    def options(self):
        """The body of SUPPORTED."""
        return self.ask(OPTIONS)[2]

    def startup(self, *extensions):
        """Start, with extensions turned on."""
        options = {"CQL_VERSION": "3.0.0", **dict.fromkeys(extensions, "")}
        return self.ask(STARTUP, parts((p.write_stringmap, options)))
