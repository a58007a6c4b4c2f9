"""What the server sends: native protocol, section 4.2."""

from .errors import ErrorMessage as ErrorMessage
from .events import EventMessage as EventMessage
from .handshake import AuthChallengeMessage as AuthChallengeMessage
from .handshake import AuthenticateMessage as AuthenticateMessage
from .handshake import AuthSuccessMessage as AuthSuccessMessage
from .handshake import ReadyMessage as ReadyMessage
from .handshake import SupportedMessage as SupportedMessage
from .result import LazyResultMessage as LazyResultMessage
from .result import NumpyResultMessage as NumpyResultMessage
from .result import ResultMessage as ResultMessage
