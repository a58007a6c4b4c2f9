"""``cassandra.protocol``: error messages that are exceptions, and can be caught.

In the ``cassandra`` package an ERROR message is an exception, and one without a public exception of
its own is what the caller gets: programs say ``except cassandra.protocol.SyntaxException``. Here a
message is no exception. So each class of this module

* is an exception, made as there: ``OverloadedErrorMessage(code, message, info)``;
* counts our message of that kind as its instance, which is what retry policies ask;
* gives what it lacks (``opcode``, ``recv_body``, ...) from the class of our message;
* is made from the table of codes (``wire.responses.errors``).

While the names are served, our messages without a public exception become one of these, which is
also an instance of our exception (``raising_message_classes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from ...protocol import errors
from ...wire.responses import errors as messages

if TYPE_CHECKING:
    from collections.abc import Callable


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


class NotSupportedError(Exception):
    """Never raised here."""


class InternalError(Exception):
    """Never raised here."""


class _UnknownError(ErrorMessage, errors.RequestExecutionException):
    """A code that no specification has."""


#: What programs catch from ``cassandra`` itself: such a message becomes that, and no class of here.
PUBLIC: Final = frozenset({
    errors.Unavailable, errors.WriteTimeout, errors.ReadTimeout, errors.ReadFailure,
    errors.WriteFailure, errors.FunctionFailure, errors.Unauthorized, errors.InvalidRequest,
    errors.AlreadyExists,
})  # fmt: skip
#: What the ``cassandra`` names do not have.
_ONLY_OURS: Final = frozenset({errors.CASWriteUnknown, errors.RateLimitReached})


def _served(message: type[messages.ErrorMessage]) -> type[ErrorMessage]:
    """The class of this module that stands for a message."""
    base: type[ErrorMessage] = ErrorMessageSub
    if message is messages.AlreadyExistsException:
        base = _RAISED[messages.ConfigurationException]
    elif issubclass(message.exception, errors.RequestValidationException):
        base = RequestValidationException
    elif message is not messages.ServerError and issubclass(
        message.exception, errors.RequestExecutionException
    ):
        base = RequestExecutionException
    bases = (base,) if message.exception in PUBLIC else (base, message.exception)
    about = {"message_type": message, "__doc__": message.__doc__, "__module__": __name__}
    kind: type[ErrorMessage] = cast("Any", _MessageAndException)(message.__name__, bases, about)
    if message.exception not in PUBLIC:
        _RAISED[message] = kind
    return kind


#: Our messages whose exception is theirs, while the names are served.
_RAISED: Final[dict[type[messages.ErrorMessage], type[ErrorMessage]]] = {
    messages.ErrorMessage: _UnknownError
}
#: Code -> class, from the table of codes; they are names of this module, too.
error_classes: Final[dict[int, type[ErrorMessage]]] = {
    code: _served(message)
    for code, message in messages.ERRORS_BY_CODE.items()
    if message.exception not in _ONLY_OURS
}
globals().update({kind.__name__: kind for kind in error_classes.values()})


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
