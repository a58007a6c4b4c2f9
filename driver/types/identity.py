"""Identifiers and addresses: uuid, timeuuid, inet."""

# ruff: noqa: ARG003, D102  (overrides of the class methods that CQLType documents)

from __future__ import annotations

import socket
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING
from uuid import UUID, SafeUUID

from .base import CQLType, wrong_size

if TYPE_CHECKING:
    from ..protocol.typing import CqlValue


#: A UUID refuses to be changed; this is how its own constructor sets it.
_set, _NOT_KNOWN = object.__setattr__, SafeUUID.unknown
#: The address family of each size of an inet.
_FAMILIES = {4: socket.AF_INET, 16: socket.AF_INET6}


class UUIDType(CQLType):
    """uuid: 16 bytes."""

    typename = "uuid"
    option_code = 0x000C
    arrow = "w:16"

    @classmethod
    def serialize(cls, value: UUID, protocol_version: int) -> bytes:
        if not isinstance(value, UUID):
            raise TypeError(f"{cls.typename} takes a UUID, not {type(value).__name__}")
        return value.bytes

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> UUID:
        if len(data) != 16:
            raise wrong_size(cls.typename, "16", len(data))
        # What UUID(bytes=data) comes to, without what else it can be made of: half a row's time.
        value = UUID.__new__(UUID)
        _set(value, "int", int.from_bytes(data))
        _set(value, "is_safe", _NOT_KNOWN)
        return value

    @classmethod
    def serial_size(cls) -> int | None:
        return 16


class TimeUUIDType(UUIDType):
    """timeuuid: a uuid of version 1. The server checks the version."""

    typename = "timeuuid"
    option_code = 0x000F


class InetAddressType(CQLType):
    """inet: an IPv4 address in 4 bytes or an IPv6 address in 16, a str in Python."""

    typename = "inet"
    option_code = 0x0010
    arrow = "u"

    @classmethod
    def serialize(cls, value: str | IPv4Address | IPv6Address, protocol_version: int) -> bytes:
        if isinstance(value, IPv4Address | IPv6Address):
            return value.packed
        if not isinstance(value, str):
            raise TypeError(f"{cls.typename} takes an address, not {type(value).__name__}")
        try:
            return socket.inet_pton(_FAMILIES[16 if ":" in value else 4], value)
        except (OSError, ValueError):  # ValueError: a zero character inside
            raise ValueError(f"{value!r} is no inet address") from None

    @classmethod
    def deserialize(cls, data: bytes, protocol_version: int) -> CqlValue:
        family = _FAMILIES.get(len(data))
        if family is None:
            raise wrong_size(cls.typename, "4 or 16", len(data))
        return socket.inet_ntop(family, data)
