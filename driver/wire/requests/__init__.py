"""What the client sends: native protocol, section 4.1."""

from .batch import BatchMessage as BatchMessage
from .handshake import AuthResponseMessage as AuthResponseMessage
from .handshake import OptionsMessage as OptionsMessage
from .handshake import RegisterMessage as RegisterMessage
from .handshake import StartupMessage as StartupMessage
from .prepare import PrepareMessage as PrepareMessage
from .query import ExecuteMessage as ExecuteMessage
from .query import QueryMessage as QueryMessage
