"""What the client sends: native protocol, section 4.1."""

from .batch import BatchMessage
from .handshake import AuthResponseMessage, OptionsMessage, RegisterMessage, StartupMessage
from .prepare import PrepareMessage
from .query import ExecuteMessage, QueryMessage

__all__ = [
    "AuthResponseMessage",
    "BatchMessage",
    "ExecuteMessage",
    "OptionsMessage",
    "PrepareMessage",
    "QueryMessage",
    "RegisterMessage",
    "StartupMessage",
]
