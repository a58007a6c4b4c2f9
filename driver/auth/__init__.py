"""Authentication: who a client says it is, to each server."""

from .base import Authenticator as Authenticator
from .base import AuthProvider as AuthProvider
from .plain import PlainTextAuthenticator as PlainTextAuthenticator
from .plain import PlainTextAuthProvider as PlainTextAuthProvider
from .plain import TransitionalModePlainTextAuthenticator as TransitionalModePlainTextAuthenticator
from .plain import TransitionalModePlainTextAuthProvider as TransitionalModePlainTextAuthProvider
from .sasl import SaslAuthenticator as SaslAuthenticator
from .sasl import SaslAuthProvider as SaslAuthProvider
