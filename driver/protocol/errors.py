"""Every exception that the driver raises on purpose; each carries its payload as attributes.

The server's errors are described in native_protocol_v5 section 9; the names are those that users
of CQL drivers for Python already catch::

    DriverException
      RequestExecutionException      the server tried and could not
        Unavailable  Timeout (ReadTimeout, WriteTimeout)
        CoordinationFailure (ReadFailure, WriteFailure)  FunctionFailure  CDCWriteFailure
        CASWriteUnknown  Overloaded  IsBootstrapping  TruncateError  ServerError  RateLimitReached
      RequestValidationException     the server refused to try
        ConfigurationException (AlreadyExists)  InvalidRequest  SyntaxException  Unauthorized
        PreparedQueryNotFound
      AuthenticationFailed  OperationTimedOut  UnsupportedOperation  NoHostAvailable
      UnresolvableContactPoints  DependencyException
      MarshalException               bytes that are no value of their type
      DriverInternalError (ProtocolException)   a peer broke the protocol, or we did
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict, Unpack

from .consistency import consistency_value_to_name
from .kinds import OperationType, WriteType
from .limits import shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class _Responses(TypedDict, total=False):
    """Payload of every error that counts responses."""

    consistency: int | None
    required_responses: int | None
    received_responses: int | None


class _Failures(_Responses, total=False):
    """Payload of every error that counts failures."""

    failures: int | None
    error_code_map: Mapping[str, int] | None


def _with_info(summary: str, **info: object) -> str:
    """A server's message followed by the payload that came with it."""
    pairs = ", ".join(f"{key}={value}" for key, value in info.items())
    return f"{summary} info={{{pairs}}}"


def _write_type_name(write_type: int | str | None) -> str:
    """The name of a write type given by number or by name."""
    if isinstance(write_type, int):
        return WriteType.value_to_name.get(write_type, str(write_type))
    return str(write_type)


class DriverException(Exception):
    """Base of all exceptions of this driver."""


# --- the server tried and could not ------------------------------------------------------------


class RequestExecutionException(DriverException):
    """Base of errors in the execution of a valid request."""


class Unavailable(RequestExecutionException):
    """Too few live replicas were known for the consistency level, so nothing was tried.

    Attributes:
        consistency: the ``ConsistencyLevel`` of the request.
        required_replicas: how many it needs.
        alive_replicas: how many the coordinator believed to be alive.
    """

    def __init__(
        self,
        summary_message: str,
        consistency: int | None = None,
        required_replicas: int | None = None,
        alive_replicas: int | None = None,
    ) -> None:
        """Keep the payload and describe it."""
        self.consistency = consistency
        self.required_replicas = required_replicas
        self.alive_replicas = alive_replicas
        super().__init__(
            _with_info(
                summary_message,
                consistency=consistency_value_to_name(consistency),
                required_replicas=required_replicas,
                alive_replicas=alive_replicas,
            )
        )


class _ReplicaResponses(RequestExecutionException):
    """What timeouts and failures share: how many replicas answered, of how many needed."""

    def __init__(
        self,
        summary_message: str,
        consistency: int | None = None,
        required_responses: int | None = None,
        received_responses: int | None = None,
        **more: object,
    ) -> None:
        """Keep the payload and describe it."""
        self.consistency = consistency
        self.required_responses = required_responses
        self.received_responses = received_responses
        super().__init__(
            _with_info(
                summary_message,
                consistency=consistency_value_to_name(consistency),
                required_responses=required_responses,
                received_responses=received_responses,
                **more,
            )
        )


class Timeout(_ReplicaResponses):
    """Replicas did not answer the coordinator in time.

    Attributes:
        consistency: the ``ConsistencyLevel`` of the request.
        required_responses: how many replicas had to answer.
        received_responses: how many did.
    """


class ReadTimeout(Timeout):
    """A read timed out.

    Attributes:
        data_retrieved: whether the replica that was asked for data (not a digest) answered.
    """

    def __init__(
        self, message: str, data_retrieved: bool | None = None, **responses: Unpack[_Responses]
    ) -> None:
        """Keep the payload; ``responses`` as for ``Timeout``."""
        self.data_retrieved = data_retrieved
        super().__init__(message, **responses, data_retrieved=data_retrieved)


class WriteTimeout(Timeout):
    """A write timed out; it may be applied all the same.

    Attributes:
        write_type: a ``WriteType``.
        contentions: how often a conditional write (CAS) was contended; v5 only, else None.
    """

    def __init__(
        self,
        message: str,
        write_type: int | str | None = None,
        contentions: int | None = None,
        **responses: Unpack[_Responses],
    ) -> None:
        """Keep the payload; ``responses`` as for ``Timeout``."""
        self.write_type = write_type
        self.contentions = contentions
        super().__init__(message, **responses, write_type=_write_type_name(write_type))


class CoordinationFailure(_ReplicaResponses):
    """Replicas answered with a failure.

    Attributes:
        consistency: the ``ConsistencyLevel`` of the request.
        required_responses: how many replicas had to answer.
        received_responses: how many did.
        failures: how many failed.
        error_code_map: reason code by replica address; v5 only, else None.
    """

    def __init__(
        self,
        summary_message: str,
        consistency: int | None = None,
        required_responses: int | None = None,
        received_responses: int | None = None,
        failures: int | None = None,
        error_code_map: Mapping[str, int] | None = None,
        **more: object,
    ) -> None:
        """Keep the payload and describe it."""
        self.failures = failures
        self.error_code_map = error_code_map
        if error_code_map is not None:
            more["error_code_map"] = {
                address: f"{code:#06x}" for address, code in error_code_map.items()
            }
        super().__init__(
            summary_message,
            consistency,
            required_responses,
            received_responses,
            failures=failures,
            **more,
        )


class ReadFailure(CoordinationFailure):
    """A read failed on some replicas.

    Attributes:
        data_retrieved: whether the replica that was asked for data (not a digest) answered.
    """

    def __init__(
        self, message: str, data_retrieved: bool | None = None, **payload: Unpack[_Failures]
    ) -> None:
        """Keep the payload; the rest as for ``CoordinationFailure``."""
        self.data_retrieved = data_retrieved
        super().__init__(message, **payload, data_retrieved=data_retrieved)


class WriteFailure(CoordinationFailure):
    """A write failed on some replicas.

    Attributes:
        write_type: a ``WriteType``.
    """

    def __init__(
        self, message: str, write_type: int | str | None = None, **payload: Unpack[_Failures]
    ) -> None:
        """Keep the payload; the rest as for ``CoordinationFailure``."""
        self.write_type = write_type
        super().__init__(message, **payload, write_type=_write_type_name(write_type))


class FunctionFailure(RequestExecutionException):
    """A user-defined function failed.

    Attributes:
        keyspace: where the function lives.
        function: its name.
        arg_types: its argument types, as CQL.
    """

    def __init__(
        self, summary_message: str, keyspace: str, function: str, arg_types: Sequence[str]
    ) -> None:
        """Keep the payload."""
        self.keyspace = keyspace
        self.function = function
        self.arg_types = arg_types
        super().__init__(summary_message)


class CDCWriteFailure(RequestExecutionException):
    """The space for change data capture is used up."""


class CASWriteUnknown(_ReplicaResponses):
    """A conditional write was proposed, but whether it was applied is unknown (v5).

    Attributes:
        consistency: the ``ConsistencyLevel`` of the request.
        required_responses: how many replicas had to accept the proposal.
        received_responses: how many did.
        message: what the server says, without the rest.
    """

    def __init__(self, message: str, **responses: Unpack[_Responses]) -> None:
        """Keep the payload; ``responses`` as for ``Timeout``."""
        self.message = message
        super().__init__(message, **responses)


class Overloaded(RequestExecutionException):
    """The coordinator is overloaded; another one may not be."""


class IsBootstrapping(RequestExecutionException):
    """The coordinator is still joining the cluster; another one is not."""


class TruncateError(RequestExecutionException):
    """A TRUNCATE failed."""


class ServerError(RequestExecutionException):
    """Something unexpected happened in the server; a bug there, as a rule."""


#: Names by number; a server may send one that this driver does not know.
_OPERATIONS: dict[int | None, str] = {each.value: each.name for each in OperationType}


class RateLimitReached(RequestExecutionException):
    """A partition's rate limit was reached (ScyllaDB).

    Attributes:
        op_type: an ``OperationType``, or a number that is none of them.
        rejected_by_coordinator: False if a replica rejected the request.
    """

    def __init__(
        self, op_type: int | None = None, rejected_by_coordinator: bool | None = False
    ) -> None:
        """Keep the payload and describe it."""
        self.op_type = op_type
        self.rejected_by_coordinator = rejected_by_coordinator
        super().__init__(
            f"[request_error_rate_limit_reached OpType={_OPERATIONS.get(op_type, op_type)} "
            f"RejectedByCoordinator={rejected_by_coordinator}]"
        )


# --- the server refused to try -----------------------------------------------------------------


class RequestValidationException(DriverException):
    """Base of errors in the request itself."""


class ConfigurationException(RequestValidationException):
    """A statement asks for a configuration that is not valid."""


class AlreadyExists(ConfigurationException):
    """A keyspace or table to be created exists.

    Attributes:
        keyspace: its keyspace.
        table: the table; empty or None if the keyspace itself exists.
    """

    def __init__(self, keyspace: str | None = None, table: str | None = None) -> None:
        """Keep the payload and describe it."""
        self.keyspace = keyspace
        self.table = table
        what = f"Table '{keyspace}.{table}'" if table else f"Keyspace '{keyspace}'"
        super().__init__(f"{what} already exists")


class InvalidRequest(RequestValidationException):
    """A statement is well formed but not valid."""


class SyntaxException(RequestValidationException):
    """A statement is not CQL."""


class Unauthorized(RequestValidationException):
    """The user may not do this."""


class PreparedQueryNotFound(RequestValidationException):
    """The coordinator does not know a prepared statement (any more).

    Attributes:
        query_id: the id of the prepared statement, bytes.
    """

    def __init__(self, message: str, query_id: bytes | None = None) -> None:
        """Keep the payload."""
        self.query_id = query_id
        super().__init__(message)


# --- on our side of the connection -------------------------------------------------------------


class AuthenticationFailed(DriverException):
    """The server did not accept who we say we are."""


class OperationTimedOut(DriverException):
    """The client gave up waiting.

    Attributes:
        errors: what went wrong, by host.
        last_host: the host that was asked last.
    """

    def __init__(
        self, errors: Mapping[object, object] | None = None, last_host: object | None = None
    ) -> None:
        """Keep the payload and describe it."""
        self.errors = errors
        self.last_host = last_host
        super().__init__(f"errors={errors}, last_host={last_host}")


class NoHostAvailable(DriverException):
    """No host answered a request.

    Attributes:
        errors: what went wrong, by host.
    """

    def __init__(self, message: str, errors: Mapping[object, object]) -> None:
        """Keep the payload."""
        self.errors = errors
        super().__init__(message, errors)


class UnsupportedOperation(DriverException):
    """The negotiated protocol version has no such thing."""


class UnresolvableContactPoints(DriverException):
    """No contact point has an address."""


class DependencyException(DriverException):
    """An optional dependency is needed and missing.

    Attributes:
        excs: the import errors.
    """

    def __init__(self, msg: str, excs: Sequence[BaseException] = ()) -> None:
        """Keep the payload and describe it."""
        self.excs = excs
        listed = "".join(f"\n{type(exc).__name__}: {exc}" for exc in excs)
        super().__init__(msg + listed)


class MarshalException(DriverException, ValueError):
    """Bytes that are no value of their CQL type: truncated, too long, or a length that lies."""

    def __init__(self, message: str = "") -> None:
        """Say what is wrong with them, in a message of a sane length."""
        super().__init__(shortened(message))


class DriverInternalError(DriverException):
    """Something that cannot happen if the driver and the server keep to the protocol."""


class ProtocolException(DriverInternalError):
    """A message broke the protocol; either side may have noticed."""
