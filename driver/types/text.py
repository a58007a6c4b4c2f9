"""Text and bytes: ascii, text, varchar, blob."""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

from typing import ClassVar

from .base import CQLType


class _Text(CQLType):
    """Text in some encoding; zero bytes are the empty text."""

    empty_binary_ok = True
    arrow = "u"
    encoding: ClassVar[str]

    @classmethod
    def serialize(cls, value: str, protocol_version: int) -> bytes:
        if not isinstance(value, str):
            raise TypeError(f"{cls.typename} takes a str, not {type(value).__name__}")
        return value.encode(cls.encoding)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> str:
        return data.decode(cls.encoding)


class AsciiType(_Text):
    """ascii: text of 7-bit characters."""

    typename = "ascii"
    option_code = 0x0001
    encoding = "ascii"


class UTF8Type(_Text):
    """text: UTF-8."""

    typename = "text"
    option_code = 0x000D
    encoding = "utf-8"


class VarcharType(UTF8Type):
    """varchar: another name of text."""

    typename = "varchar"


class BytesType(CQLType):
    """blob: bytes as they are. Takes bytes, bytearray and memoryview."""

    typename = "blob"
    option_code = 0x0003
    empty_binary_ok = True

    @classmethod
    def serialize(cls, value: bytes | bytearray | memoryview, protocol_version: int) -> bytes:
        # bytes(5) would be five zeros, so that an int must not come this far.
        if not isinstance(value, bytes | bytearray | memoryview):
            raise TypeError(f"{cls.typename} takes bytes, not {type(value).__name__}")
        return bytes(value)

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> bytes:
        return bytes(data)
