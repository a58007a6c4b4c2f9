"""The protocol handler: which classes read the bodies of frames.

``requests.frames`` has how messages become frames, ``decoding`` the other direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from .decoding import decode_message
from .requests.frames import encode_message
from .responses import (
    AuthChallengeMessage,
    AuthenticateMessage,
    AuthSuccessMessage,
    ErrorMessage,
    EventMessage,
    ReadyMessage,
    ResultMessage,
    SupportedMessage,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .messages import ColumnEncryptionPolicy, Response

#: The responses that a server may send.
RESPONSES_BY_OPCODE: Final[Mapping[int, type[Response]]] = {
    response.opcode: response
    for response in (
        AuthChallengeMessage,
        AuthSuccessMessage,
        AuthenticateMessage,
        ErrorMessage,
        EventMessage,
        ReadyMessage,
        ResultMessage,
        SupportedMessage,
    )
}


class ProtocolHandler:
    """Encodes requests and decodes responses; rows become lists of tuples.

    Subclasses choose other responses or a column encryption policy through the class attributes.

    Attributes:
        message_types_by_opcode: the class that reads the body of each response.
        column_encryption_policy: decrypts values of encrypted columns; None decrypts nothing.
    """

    message_types_by_opcode: ClassVar[Mapping[int, type[Response]]] = RESPONSES_BY_OPCODE
    column_encryption_policy: ClassVar[ColumnEncryptionPolicy | None] = None

    encode_message = staticmethod(encode_message)
    decode_message = classmethod(decode_message)
