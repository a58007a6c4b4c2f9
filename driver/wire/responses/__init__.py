"""What the server sends: native protocol, section 4.2."""

from .errors import ErrorMessage
from .events import EventMessage
from .handshake import (
    AuthChallengeMessage,
    AuthenticateMessage,
    AuthSuccessMessage,
    ReadyMessage,
    SupportedMessage,
)
from .result import LazyResultMessage, NumpyResultMessage, ResultMessage

__all__ = [
    "AuthChallengeMessage",
    "AuthSuccessMessage",
    "AuthenticateMessage",
    "ErrorMessage",
    "EventMessage",
    "LazyResultMessage",
    "NumpyResultMessage",
    "ReadyMessage",
    "ResultMessage",
    "SupportedMessage",
]
