"""``cassandra.protocol``: error messages that are exceptions, and can be caught.

In the ``cassandra`` package an ERROR message is an exception, and one without a public exception of
its own is what the caller gets: programs say ``except cassandra.protocol.SyntaxException``. Here a
message is no exception. So each class of this module

* is an exception, made as there: ``OverloadedErrorMessage(code, message, info)``;
* counts our message of that kind as its instance, which is what retry policies ask;
* gives what it lacks (``opcode``, ``recv_body``, ...) from the class of our message.

While the names are served, our messages without a public exception become one of these, which is
also an instance of our exception (``raising_message_classes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from ...protocol import errors
from ...wire.responses import errors as messages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _MessageAndException(type):
    """The class of the classes: knows the message that each of them stands for."""

    message_type: type[messages.ErrorMessage]

    def __instancecheck__(cls, instance: object) -> bool:
        """Exceptions of the class, and messages of that kind."""
        return super().__instancecheck__(instance) or isinstance(
            instance, cls.kinds() if cls is not ErrorMessage else messages.ErrorMessage
        )

    def kinds(cls) -> tuple[type, ...]:
        """The messages of this class and of those below it."""
        own = (cls.message_type,) if "message_type" in vars(cls) else ()
        children: list[Any] = cls.__subclasses__()
        return (*own, *(kind for child in children for kind in child.kinds()))

    def __getattr__(cls, name: str) -> Any:
        """What the class of the message has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(cls.message_type, name)


class ErrorMessage(errors.DriverException, metaclass=_MessageAndException):
    """Any error of the server.

    Attributes:
        code: as on the wire.
        message: the server's words.
        info: what the code adds to them.
    """

    message_type: ClassVar[type[messages.ErrorMessage]] = messages.ErrorMessage
    info: Any

    def __init__(self, code: int, message: str, info: Any = None) -> None:
        """Keep what the server said; the same arguments stay the exception's."""
        Exception.__init__(self, code, message, info)
        self.code = code
        self.message = message
        self.info = info

    def summary_msg(self) -> str:
        """One line for logs."""
        return self._as_message().summary_msg()

    def to_exception(self) -> Exception:
        """The public exception; itself if there is none."""
        if type(self) in _RAISED.values():
            return self
        return self._as_message().to_exception()

    def _as_message(self) -> messages.ErrorMessage:
        """Our message of this kind."""
        return type(self).message_type(self.code, self.message, self.info)

    def __str__(self) -> str:
        """The summary line, in angle brackets."""
        return f"<{self.summary_msg()}>"


class ErrorMessageSub(ErrorMessage):
    """An error whose code is known."""


class RequestExecutionException(ErrorMessageSub, errors.RequestExecutionException):
    """The server tried and could not."""


class RequestValidationException(ErrorMessageSub, errors.RequestValidationException):
    """The server refused to try."""


class ServerError(ErrorMessageSub, errors.ServerError):
    """0x0000."""

    message_type = messages.ServerError


class ProtocolException(ErrorMessageSub, errors.ProtocolException):
    """0x000A."""

    message_type = messages.ProtocolException


class BadCredentials(ErrorMessageSub, errors.AuthenticationFailed):
    """0x0100."""

    message_type = messages.BadCredentials


class UnavailableErrorMessage(RequestExecutionException):
    """0x1000; callers get ``Unavailable``."""

    message_type = messages.UnavailableErrorMessage


class OverloadedErrorMessage(RequestExecutionException, errors.Overloaded):
    """0x1001."""

    message_type = messages.OverloadedErrorMessage


class IsBootstrappingErrorMessage(RequestExecutionException, errors.IsBootstrapping):
    """0x1002."""

    message_type = messages.IsBootstrappingErrorMessage


class TruncateError(RequestExecutionException, errors.TruncateError):
    """0x1003."""

    message_type = messages.TruncateError


class WriteTimeoutErrorMessage(RequestExecutionException):
    """0x1100; callers get ``WriteTimeout``."""

    message_type = messages.WriteTimeoutErrorMessage


class ReadTimeoutErrorMessage(RequestExecutionException):
    """0x1200; callers get ``ReadTimeout``."""

    message_type = messages.ReadTimeoutErrorMessage


class ReadFailureMessage(RequestExecutionException):
    """0x1300; callers get ``ReadFailure``."""

    message_type = messages.ReadFailureMessage


class FunctionFailureMessage(RequestExecutionException):
    """0x1400; callers get ``FunctionFailure``."""

    message_type = messages.FunctionFailureMessage


class WriteFailureMessage(RequestExecutionException):
    """0x1500; callers get ``WriteFailure``."""

    message_type = messages.WriteFailureMessage


class CDCWriteException(RequestExecutionException, errors.CDCWriteFailure):
    """0x1600."""

    message_type = messages.CDCWriteException


class SyntaxException(RequestValidationException, errors.SyntaxException):
    """0x2000."""

    message_type = messages.SyntaxException


class UnauthorizedErrorMessage(RequestValidationException):
    """0x2100; callers get ``Unauthorized``."""

    message_type = messages.UnauthorizedErrorMessage


class InvalidRequestException(RequestValidationException):
    """0x2200; callers get ``InvalidRequest``."""

    message_type = messages.InvalidRequestException


class ConfigurationException(RequestValidationException, errors.ConfigurationException):
    """0x2300."""

    message_type: ClassVar[type[messages.ErrorMessage]] = messages.ConfigurationException


class AlreadyExistsException(ConfigurationException):
    """0x2400; callers get ``AlreadyExists``."""

    message_type = messages.AlreadyExistsException


class PreparedQueryNotFound(RequestValidationException, errors.PreparedQueryNotFound):
    """0x2500; ``info`` is the id of the statement."""

    message_type = messages.PreparedQueryNotFound


class NotSupportedError(Exception):
    """Never raised here."""


class InternalError(Exception):
    """Never raised here."""


class _UnknownError(ErrorMessage, errors.RequestExecutionException):
    """A code that no specification has."""


def _all_below(kind: type[ErrorMessage]) -> Iterator[type[ErrorMessage]]:
    """The classes that are derived from one."""
    for child in kind.__subclasses__():
        yield child
        yield from _all_below(child)


#: Our messages whose exception is theirs, while the names are served.
_RAISED: Final[dict[type[messages.ErrorMessage], type[ErrorMessage]]] = {
    messages.ErrorMessage: _UnknownError,
    messages.ServerError: ServerError,
    messages.ProtocolException: ProtocolException,
    messages.BadCredentials: BadCredentials,
    messages.OverloadedErrorMessage: OverloadedErrorMessage,
    messages.IsBootstrappingErrorMessage: IsBootstrappingErrorMessage,
    messages.TruncateError: TruncateError,
    messages.CDCWriteException: CDCWriteException,
    messages.SyntaxException: SyntaxException,
    messages.ConfigurationException: ConfigurationException,
    messages.PreparedQueryNotFound: PreparedQueryNotFound,
}

_BY_NAME: Final = {served.__name__: served for served in _all_below(ErrorMessage)}

#: Code -> class.
error_classes: Final[dict[int, type[ErrorMessage]]] = {
    code: _BY_NAME[message.__name__]
    for code, message in messages.ERRORS_BY_CODE.items()
    if message.__name__ in _BY_NAME
}


def raising_message_classes() -> Callable[[], None]:
    """Let our messages without a public exception become those of this module.

    Returns:
        What puts everything back.
    """
    before = {kind: vars(kind).get("to_exception") for kind in _RAISED}

    def to_exception(message: messages.ErrorMessage) -> Exception:
        served = _RAISED.get(type(message))
        if served is None:
            # A class without an exception of its own here, but with one in ``driver.protocol``.
            return plain(message)
        return served(message.code, message.message, message.info)

    plain = messages.ErrorMessage.to_exception
    for kind in _RAISED:
        kind.to_exception = to_exception  # type: ignore[assignment,method-assign]

    def restore() -> None:
        for kind, method in before.items():
            if method is None:
                del kind.to_exception
            else:
                kind.to_exception = method  # type: ignore[method-assign]

    return restore
