"""Authentication: who a client says it is, to each server."""

from .base import Authenticator, AuthProvider
from .plain import (
    PlainTextAuthenticator,
    PlainTextAuthProvider,
    TransitionalModePlainTextAuthenticator,
    TransitionalModePlainTextAuthProvider,
)
from .sasl import SaslAuthenticator, SaslAuthProvider

__all__ = [
    "AuthProvider",
    "Authenticator",
    "PlainTextAuthProvider",
    "PlainTextAuthenticator",
    "SaslAuthProvider",
    "SaslAuthenticator",
    "TransitionalModePlainTextAuthProvider",
    "TransitionalModePlainTextAuthenticator",
]
