"""ERROR, sections 4.2.1 and 8 (v5: error codes): a code, a message, and what the code adds.

One small class for each code: what it reads after the message (``info``), and which exception of
``driver.protocol`` it becomes. The names are those that users of the field's drivers know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

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
    from io import BytesIO

    from ..features import ProtocolFeatures

#: What follows the message; keys are the arguments of the exception.
Info: TypeAlias = "dict[str, Any]"


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

    def __init__(self, code: int, message: str, info: Any = None) -> None:  # noqa: ANN401
        """Keep what the class describes."""
        self.code = code
        self.message = message
        self.info = info

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

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Any:  # noqa: ANN401
        """Read what follows the message; nothing, for most codes."""
        return None

    def summary_msg(self) -> str:
        """One line for logs and exceptions."""
        return f'Error from server: code={self.code:04x} [{self.summary}] message="{self.message}"'

    def to_exception(self) -> Exception:
        """The exception that callers of the driver get."""
        return self.exception(self.summary_msg(), **(self.info or {}))

    def __str__(self) -> str:
        """The summary line, in angle brackets."""
        return f"<{self.summary_msg()}>"


def _read_responses(f: BytesIO) -> Info:
    """Read <cl><received><blockfor>."""
    return {
        "consistency": read_consistency_level(f),
        "received_responses": read_int(f),
        "required_responses": read_int(f),
    }


def _read_failures(f: BytesIO, protocol_version: int) -> Info:
    """Read <cl><received><blockfor> and <numfailures> (v4) or <reasonmap> (v5)."""
    info = _read_responses(f)
    if ProtocolVersion.uses_error_code_map(protocol_version):
        error_code_map = read_error_code_map(f)
        info["failures"] = len(error_code_map)
        info["error_code_map"] = error_code_map
    else:
        info["failures"] = read_int(f)
        info["error_code_map"] = None
    return info


def _read_write_type(f: BytesIO) -> WriteType | str:
    """Read a [string] that names a write type; a name from the future stays text."""
    name = read_string(f)
    return WriteType.name_to_value.get(name, name)


class ServerError(ErrorMessage):
    """0x0000: something unexpected happened in the server."""

    summary = "Server error"
    exception = errors.ServerError


class ProtocolException(ErrorMessage):
    """0x000A: a request broke the protocol, or the server does not speak this version."""

    summary = "Protocol error"
    exception = errors.ProtocolException

    @property
    def is_beta_protocol_error(self) -> bool:
        """The version is a beta, and the request lacked the flag for that."""
        return "USE_BETA flag is unset" in self.message


class BadCredentials(ErrorMessage):
    """0x0100: authentication failed."""

    summary = "Bad credentials"
    exception = errors.AuthenticationFailed


class UnavailableErrorMessage(ErrorMessage):
    """0x1000: too few replicas are alive."""

    summary = "Unavailable exception"
    exception = errors.Unavailable

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><required><alive>."""
        return {
            "consistency": read_consistency_level(f),
            "required_replicas": read_int(f),
            "alive_replicas": read_int(f),
        }


class OverloadedErrorMessage(ErrorMessage):
    """0x1001: the coordinator has too much to do."""

    summary = "Coordinator node overloaded"
    exception = errors.Overloaded


class IsBootstrappingErrorMessage(ErrorMessage):
    """0x1002: the coordinator is not ready for reads yet."""

    summary = "Coordinator node is bootstrapping"
    exception = errors.IsBootstrapping


class TruncateError(ErrorMessage):
    """0x1003: TRUNCATE failed."""

    summary = "Error during truncate"
    exception = errors.TruncateError


class WriteTimeoutErrorMessage(ErrorMessage):
    """0x1100: replicas did not acknowledge a write in time."""

    summary = "Coordinator node timed out waiting for replica nodes' responses"
    exception = errors.WriteTimeout

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><received><blockfor><writeType>, and <contentions> of a CAS write in v5."""
        info = _read_responses(f)
        info["write_type"] = _read_write_type(f)
        if info["write_type"] is WriteType.CAS and protocol_version >= ProtocolVersion.V5:
            info["contentions"] = read_short(f)
        return info


class ReadTimeoutErrorMessage(ErrorMessage):
    """0x1200: replicas did not answer a read in time."""

    summary = "Coordinator node timed out waiting for replica nodes' responses"
    exception = errors.ReadTimeout

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><received><blockfor><data_present>."""
        return {**_read_responses(f), "data_retrieved": bool(read_byte(f))}


class ReadFailureMessage(ErrorMessage):
    """0x1300: replicas failed a read."""

    summary = "Replica(s) failed to execute read"
    exception = errors.ReadFailure

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><received><blockfor><numfailures or reasonmap><data_present>."""
        return {**_read_failures(f, protocol_version), "data_retrieved": bool(read_byte(f))}


class FunctionFailureMessage(ErrorMessage):
    """0x1400: a user-defined function failed."""

    summary = "User Defined Function failure"
    exception = errors.FunctionFailure

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <keyspace><function><arg_types>."""
        return {
            "keyspace": read_string(f),
            "function": read_string(f),
            "arg_types": read_stringlist(f),
        }


class WriteFailureMessage(ErrorMessage):
    """0x1500: replicas failed a write."""

    summary = "Replica(s) failed to execute write"
    exception = errors.WriteFailure

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><received><blockfor><numfailures or reasonmap><write_type>."""
        return {**_read_failures(f, protocol_version), "write_type": _read_write_type(f)}


class CDCWriteException(ErrorMessage):
    """0x1600: no space is left for change data capture."""

    summary = "Failed to execute write due to CDC space exhaustion."
    exception = errors.CDCWriteFailure


class CASWriteUnknownErrorMessage(ErrorMessage):
    """0x1700: nobody knows whether a conditional write took place (v5)."""

    summary = "Conditional write may or may not have taken place"
    exception = errors.CASWriteUnknown

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <cl><received><blockfor>."""
        return _read_responses(f)


class SyntaxException(ErrorMessage):
    """0x2000: the query does not parse."""

    summary = "Syntax error in CQL query"
    exception = errors.SyntaxException


class UnauthorizedErrorMessage(ErrorMessage):
    """0x2100: the user may not do that."""

    summary = "Unauthorized"
    exception = errors.Unauthorized


class InvalidRequestException(ErrorMessage):
    """0x2200: the query parses, and makes no sense."""

    summary = "Invalid query"
    exception = errors.InvalidRequest


class ConfigurationException(ErrorMessage):
    """0x2300: the query is invalid because of a configuration."""

    summary = "Query invalid because of configuration issue"
    exception = errors.ConfigurationException


class AlreadyExistsException(ErrorMessage):
    """0x2400: the keyspace or table to create exists."""

    summary = "Item already exists"
    exception = errors.AlreadyExists

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <ks><table>; the table is empty if it is about the keyspace."""
        return {"keyspace": read_string(f), "table": read_string(f)}

    def to_exception(self) -> Exception:
        """The exception, which says it in its own words."""
        return errors.AlreadyExists(**self.info)


class PreparedQueryNotFound(ErrorMessage):
    """0x2500: the node does not know the prepared statement; ``info`` is the id of it."""

    summary = "Matching prepared statement not found on this node"
    exception = errors.PreparedQueryNotFound

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> bytes:
        """Read the id, [short bytes]."""
        return read_binary_string(f)

    def to_exception(self) -> Exception:
        """The exception, with the id."""
        return errors.PreparedQueryNotFound(self.summary_msg(), self.info)


class RateLimitReachedException(ErrorMessage):
    """ScyllaDB: a partition's rate limit was reached; SUPPORTED tells the code."""

    summary = "Rate limit reached"
    exception = errors.RateLimitReached

    @staticmethod
    def recv_error_info(f: BytesIO, protocol_version: int) -> Info:
        """Read <op_type><rejected_by_coordinator>."""
        return {"op_type": read_byte(f), "rejected_by_coordinator": bool(read_byte(f))}

    def to_exception(self) -> Exception:
        """The exception, which says it in its own words."""
        return errors.RateLimitReached(**self.info)


#: The codes of the specifications.
ERRORS_BY_CODE: dict[int, type[ErrorMessage]] = {
    0x0000: ServerError,
    0x000A: ProtocolException,
    0x0100: BadCredentials,
    0x1000: UnavailableErrorMessage,
    0x1001: OverloadedErrorMessage,
    0x1002: IsBootstrappingErrorMessage,
    0x1003: TruncateError,
    0x1100: WriteTimeoutErrorMessage,
    0x1200: ReadTimeoutErrorMessage,
    0x1300: ReadFailureMessage,
    0x1400: FunctionFailureMessage,
    0x1500: WriteFailureMessage,
    0x1600: CDCWriteException,
    0x1700: CASWriteUnknownErrorMessage,
    0x2000: SyntaxException,
    0x2100: UnauthorizedErrorMessage,
    0x2200: InvalidRequestException,
    0x2300: ConfigurationException,
    0x2400: AlreadyExistsException,
    0x2500: PreparedQueryNotFound,
}
