"""ERROR, sections 4.2.1 and 8 (v5: error codes): one table of codes, in the form of classes.

A class says all that is known of a code: the code, what it is called in words, what follows the
message on the wire (``info``), and the exception of ``driver.protocol`` that a caller gets. Its
name is the one that users of the field's drivers know; ``driver.compat`` makes its classes from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

from ...protocol import errors
from ...protocol.kinds import WriteType
from ...protocol.version import ProtocolVersion
from ..messages import Response
from ..primitives import (
    read_binary_string,
    read_byte,
    read_consistency_level,
    read_error_code_map,
    read_int,
    read_short,
    read_string,
    read_stringlist,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BytesIO

    from ..features import ProtocolFeatures

#: What follows the message; keys are the arguments of the exception.
Info: TypeAlias = "dict[str, Any]"


class _Read(Protocol):
    """Reads what follows the message of a code in a protocol version."""

    def __call__(self, f: BytesIO, protocol_version: int, /) -> Any: ...  # noqa: ANN401


def _fields(**readers: Callable[[BytesIO], Any]) -> _Read:
    """A reader of fields, one after the other."""
    return lambda f, _: {name: read(f) for name, read in readers.items()}


def _read_flag(f: BytesIO) -> bool:
    """A [byte] that is a truth value."""
    return bool(read_byte(f))


def _read_write_type(f: BytesIO) -> WriteType | str:
    """A [string] that names a write type; a name from the future stays text."""
    name = read_string(f)
    return WriteType.name_to_value.get(name, name)


#: <cl><received><blockfor>.
_RESPONSES: dict[str, Callable[[BytesIO], Any]] = {
    "consistency": read_consistency_level,
    "received_responses": read_int,
    "required_responses": read_int,
}


def _failures(**more: Callable[[BytesIO], Any]) -> _Read:
    """<cl><received><blockfor>, then <numfailures> (v4) or <reasonmap> (v5), then some more."""
    first, last = _fields(**_RESPONSES), _fields(**more)

    def read(f: BytesIO, protocol_version: int) -> Info:
        info: Info = first(f, protocol_version)
        reasons = None
        if ProtocolVersion.uses_error_code_map(protocol_version):
            reasons = read_error_code_map(f)
        info["failures"] = read_int(f) if reasons is None else len(reasons)
        return {**info, "error_code_map": reasons, **last(f, protocol_version)}

    return read


def _read_write_timeout(f: BytesIO, protocol_version: int) -> Info:
    """<cl><received><blockfor><writeType>, and <contentions> of a CAS write in v5."""
    info: Info = _fields(**_RESPONSES, write_type=_read_write_type)(f, protocol_version)
    if info["write_type"] is WriteType.CAS and protocol_version >= ProtocolVersion.V5:
        info["contentions"] = read_short(f)
    return info


#: By code; each class adds itself.
ERRORS_BY_CODE: dict[int, type[ErrorMessage]] = {}


class ErrorMessage(Response):
    """ERROR: the server could not or would not do what a request asks.

    Attributes:
        code: as on the wire.
        message: the server's words.
        info: what the code adds to them; None for codes that add nothing.
        summary: the code in words.
    """

    opcode = 0x00
    name = "ERROR"

    summary: ClassVar[str] = "Unknown"
    exception: ClassVar[type[Exception]] = errors.RequestExecutionException
    #: Whether the exception has words of its own, and needs none of the server's.
    worded: ClassVar[bool] = False
    _read: ClassVar[_Read | None] = None

    def __init_subclass__(
        cls,
        *,
        summary: str,
        raises: type[Exception],
        code: int | None = None,
        reads: _Read | None = None,
        worded: bool = False,
    ) -> None:
        """A row of the table.

        Args:
            summary: the code in words.
            raises: what callers get, made with the summary and the fields that were read.
            code: on the wire; None where only SUPPORTED tells it.
            reads: what follows the message.
            worded: whether the exception has words of its own.
        """
        cls.summary, cls.exception, cls.worded = summary, raises, worded
        cls._read = staticmethod(reads) if reads else None
        if code is not None:
            ERRORS_BY_CODE[code] = cls

    def __init__(self, code: int, message: str, info: object = None) -> None:
        """Keep what the class describes."""
        self.code = code
        self.message = message
        self.info: Any = info

    @classmethod
    def recv_body(
        cls,
        f: BytesIO,
        protocol_version: int,
        protocol_features: ProtocolFeatures | None,
        *_: object,
    ) -> Self:
        """Read <code><message>[...] and give an instance of the class for the code.

        A code that nobody told us about gives a plain ``ErrorMessage``.
        """
        code = read_int(f)
        message = read_string(f)
        kind: Any = ERRORS_BY_CODE.get(code, cls)
        if protocol_features is not None and code == protocol_features.rate_limit_error:
            kind = RateLimitReachedException
        error: Self = kind(code, message, kind.recv_error_info(f, protocol_version))
        return error

    @classmethod
    def recv_error_info(cls, f: BytesIO, protocol_version: int) -> object:
        """Read what follows the message; nothing, for most codes."""
        return cls._read(f, protocol_version) if cls._read else None

    def summary_msg(self) -> str:
        """One line for logs and exceptions."""
        return f'Error from server: code={self.code:04x} [{self.summary}] message="{self.message}"'

    def to_exception(self) -> Exception:
        """The exception that callers of the driver get."""
        words = () if self.worded else (self.summary_msg(),)
        return self.exception(*words, **(self.info or {}))

    def __str__(self) -> str:
        """The summary line, in angle brackets."""
        return f"<{self.summary_msg()}>"


class ServerError(ErrorMessage, code=0x0000, summary="Server error", raises=errors.ServerError):
    """Something unexpected happened in the server."""


class ProtocolException(
    ErrorMessage, code=0x000A, summary="Protocol error", raises=errors.ProtocolException
):
    """A request broke the protocol, or the server does not speak this version."""

    @property
    def is_beta_protocol_error(self) -> bool:
        """The version is a beta, and the request lacked the flag for that."""
        return "USE_BETA flag is unset" in self.message


class BadCredentials(
    ErrorMessage, code=0x0100, summary="Bad credentials", raises=errors.AuthenticationFailed
):
    """Authentication failed."""


class UnavailableErrorMessage(
    ErrorMessage, code=0x1000, summary="Unavailable exception", raises=errors.Unavailable,
    reads=_fields(consistency=read_consistency_level, required_replicas=read_int,
                  alive_replicas=read_int),
):  # fmt: skip
    """Too few replicas are alive."""


class OverloadedErrorMessage(
    ErrorMessage, code=0x1001, summary="Coordinator node overloaded", raises=errors.Overloaded
):
    """The coordinator has too much to do."""


class IsBootstrappingErrorMessage(
    ErrorMessage, code=0x1002, summary="Coordinator node is bootstrapping",
    raises=errors.IsBootstrapping,
):  # fmt: skip
    """The coordinator is not ready for reads yet."""


class TruncateError(
    ErrorMessage, code=0x1003, summary="Error during truncate", raises=errors.TruncateError
):
    """TRUNCATE failed."""


class WriteTimeoutErrorMessage(
    ErrorMessage, code=0x1100, raises=errors.WriteTimeout, reads=_read_write_timeout,
    summary="Coordinator node timed out waiting for replica nodes' responses",
):  # fmt: skip
    """Replicas did not acknowledge a write in time."""


class ReadTimeoutErrorMessage(
    ErrorMessage, code=0x1200, raises=errors.ReadTimeout,
    reads=_fields(**_RESPONSES, data_retrieved=_read_flag),
    summary="Coordinator node timed out waiting for replica nodes' responses",
):  # fmt: skip
    """Replicas did not answer a read in time."""


class ReadFailureMessage(
    ErrorMessage, code=0x1300, raises=errors.ReadFailure,
    reads=_failures(data_retrieved=_read_flag), summary="Replica(s) failed to execute read",
):  # fmt: skip
    """Replicas failed a read."""


class FunctionFailureMessage(
    ErrorMessage, code=0x1400, raises=errors.FunctionFailure,
    reads=_fields(keyspace=read_string, function=read_string, arg_types=read_stringlist),
    summary="User Defined Function failure",
):  # fmt: skip
    """A user-defined function failed."""


class WriteFailureMessage(
    ErrorMessage, code=0x1500, raises=errors.WriteFailure,
    reads=_failures(write_type=_read_write_type), summary="Replica(s) failed to execute write",
):  # fmt: skip
    """Replicas failed a write."""


class CDCWriteException(
    ErrorMessage, code=0x1600, raises=errors.CDCWriteFailure,
    summary="Failed to execute write due to CDC space exhaustion.",
):  # fmt: skip
    """No space is left for change data capture."""


class CASWriteUnknownErrorMessage(
    ErrorMessage, code=0x1700, raises=errors.CASWriteUnknown, reads=_fields(**_RESPONSES),
    summary="Conditional write may or may not have taken place",
):  # fmt: skip
    """Nobody knows whether a conditional write took place (v5)."""


class SyntaxException(
    ErrorMessage, code=0x2000, summary="Syntax error in CQL query", raises=errors.SyntaxException
):
    """The query does not parse."""


class UnauthorizedErrorMessage(
    ErrorMessage, code=0x2100, summary="Unauthorized", raises=errors.Unauthorized
):
    """The user may not do that."""


class InvalidRequestException(
    ErrorMessage, code=0x2200, summary="Invalid query", raises=errors.InvalidRequest
):
    """The query parses, and makes no sense."""


class ConfigurationException(
    ErrorMessage, code=0x2300, raises=errors.ConfigurationException,
    summary="Query invalid because of configuration issue",
):  # fmt: skip
    """The query is invalid because of a configuration."""


class AlreadyExistsException(
    ErrorMessage, code=0x2400, summary="Item already exists", raises=errors.AlreadyExists,
    worded=True, reads=_fields(keyspace=read_string, table=read_string),
):  # fmt: skip
    """The keyspace or table to create exists; the table is empty if it is about the keyspace."""


class PreparedQueryNotFound(
    ErrorMessage, code=0x2500, raises=errors.PreparedQueryNotFound,
    reads=lambda f, _: read_binary_string(f),
    summary="Matching prepared statement not found on this node",
):  # fmt: skip
    """The node does not know the prepared statement; ``info`` is the id of it."""

    def to_exception(self) -> Exception:
        """The exception, with the id."""
        return errors.PreparedQueryNotFound(self.summary_msg(), self.info)


class RateLimitReachedException(
    ErrorMessage, summary="Rate limit reached", raises=errors.RateLimitReached, worded=True,
    reads=_fields(op_type=read_byte, rejected_by_coordinator=_read_flag),
):  # fmt: skip
    """ScyllaDB: a partition's rate limit was reached; SUPPORTED tells the code."""
