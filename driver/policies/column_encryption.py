"""Column encryption: values are encrypted when they are bound and decrypted when they are read.

The server keeps such a column as a blob and never sees the key. Binding asks the policy for every
value, row decoding for every column of a result.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..protocol.errors import DependencyException
from ..protocol.version import ProtocolVersion
from ..types.registry import lookup_cqltype

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    from ..protocol.columns import ColDesc
    from ..protocol.typing import CqlValue
    from ..types.base import CQLType

AES256_KEY_SIZE_BYTES = 32
AES256_BLOCK_SIZE = 128
AES256_BLOCK_SIZE_BYTES = AES256_BLOCK_SIZE // 8


class ColumnEncryptionPolicy(ABC):
    """Which columns are encrypted, and how."""

    @abstractmethod
    def encrypt(self, coldesc: ColDesc, obj_bytes: bytes) -> bytes:
        """Encrypt the serialised value of a column."""

    @abstractmethod
    def decrypt(self, coldesc: ColDesc, encrypted_bytes: bytes) -> bytes:
        """Decrypt to the serialised value of a column."""

    @abstractmethod
    def add_column(self, coldesc: ColDesc, key: bytes, type: str) -> None:  # noqa: A002  (the field's name for it)
        """Encrypt a column from now on, with its own key; ``type`` is CQL, such as ``"int"``."""

    @abstractmethod
    def contains_column(self, coldesc: ColDesc) -> bool:
        """Whether a column is encrypted."""

    @abstractmethod
    def column_type(self, coldesc: ColDesc) -> type[CQLType]:
        """The type of an encrypted column's plain values."""

    @abstractmethod
    def encode_and_encrypt(self, coldesc: ColDesc, obj: CqlValue) -> bytes:
        """Serialise and encrypt a value, for a statement that is not prepared."""


class _EncryptedColumn(NamedTuple):
    key: bytes
    type: type[CQLType]

    def __repr__(self) -> str:
        """Without the key."""
        return f"{self.__class__.__name__}(type={self.type!r})"


class AES256ColumnEncryptionPolicy(ColumnEncryptionPolicy):
    """AES-256 in CBC mode with PKCS7 padding; the initialisation vector goes before the text.

    Every policy object has one vector. It is random by default, which hides equal values of
    different processes; give it where equal values must be found by equality (in a partition key,
    in WHERE), so that they have equal bytes.

    Needs the ``cryptography`` package (the extra ``encryption``).
    """

    def __init__(self, iv: bytes | None = None) -> None:
        """Choose the initialisation vector, 16 bytes.

        Raises:
            DependencyException: the ``cryptography`` package is missing.
            ValueError: the vector has another length.
        """
        try:
            import cryptography.hazmat.primitives.ciphers  # noqa: F401, PLC0415  (an extra; only asked for)
        except ImportError as missing:
            raise DependencyException(
                "AES256ColumnEncryptionPolicy needs the cryptography package: "
                "pip install cqlpath[encryption]",
                [missing],
            ) from missing
        if iv is not None and len(iv) != AES256_BLOCK_SIZE_BYTES:
            raise ValueError(
                f"the initialisation vector has {AES256_BLOCK_SIZE_BYTES} bytes, not {len(iv)}"
            )
        self.iv = iv or os.urandom(AES256_BLOCK_SIZE_BYTES)
        self._columns: dict[ColDesc, _EncryptedColumn] = {}

    def add_column(self, coldesc: ColDesc, key: bytes, type: str) -> None:  # noqa: A002  (the field's name for it)
        """Encrypt a column from now on.

        Args:
            coldesc: the column.
            key: 32 bytes.
            type: the CQL type of the plain values, such as ``"int"`` or ``"list<text>"``.

        Raises:
            ValueError: a missing argument, a key of another length, an unknown type.
        """
        if not (coldesc and key and type):
            raise ValueError("an encrypted column needs a description, a key and a type")
        if len(key) != AES256_KEY_SIZE_BYTES:
            raise ValueError(f"an AES-256 key has {AES256_KEY_SIZE_BYTES} bytes, not {len(key)}")
        self._columns[coldesc] = _EncryptedColumn(bytes(key), lookup_cqltype(type))

    def contains_column(self, coldesc: ColDesc) -> bool:
        """Whether a column is encrypted."""
        return coldesc in self._columns

    def column_type(self, coldesc: ColDesc) -> type[CQLType]:
        """The type of an encrypted column's plain values.

        Raises:
            ValueError: the column is not encrypted.
        """
        return self._column(coldesc).type

    def encrypt(self, coldesc: ColDesc, obj_bytes: bytes) -> bytes:
        """The vector and the padded, encrypted bytes.

        Raises:
            ValueError: the column is not encrypted.
        """
        encryptor = _cipher(self._column(coldesc).key, self.iv).encryptor()
        return self.iv + encryptor.update(_pad(obj_bytes)) + encryptor.finalize()

    def decrypt(self, coldesc: ColDesc, encrypted_bytes: bytes) -> bytes:
        """The plain bytes; the vector is read from the front, so any process can decrypt.

        Raises:
            ValueError: the column is not encrypted, or these bytes were not encrypted with its key.
        """
        data = bytes(encrypted_bytes)
        iv, text = data[:AES256_BLOCK_SIZE_BYTES], data[AES256_BLOCK_SIZE_BYTES:]
        key = self._column(coldesc).key
        if not text or len(text) % AES256_BLOCK_SIZE_BYTES:
            raise ValueError(f"{len(data)} bytes in column {coldesc.col!r} are no AES-256 CBC text")
        decryptor = _cipher(key, iv).decryptor()
        return _unpad(decryptor.update(text) + decryptor.finalize(), coldesc)

    def encode_and_encrypt(self, coldesc: ColDesc, obj: CqlValue) -> bytes:
        """Serialise and encrypt a value.

        Raises:
            ValueError: the column is not encrypted, or there is no value.
        """
        if obj is None:
            raise ValueError("None cannot be encrypted")
        column = self._column(coldesc)
        return self.encrypt(coldesc, column.type.serialize(obj, ProtocolVersion.MAX_SUPPORTED))

    def _column(self, coldesc: ColDesc) -> _EncryptedColumn:
        try:
            return self._columns[coldesc]
        except KeyError:
            raise ValueError(f"Could not find column {coldesc} in the encryption policy") from None


@lru_cache(maxsize=128)
def _cipher(key: bytes, iv: bytes) -> Cipher[CBC]:
    """A cipher; making one checks the key and looks algorithms up, so they are kept."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: PLC0415  (an extra)

    return Cipher(algorithms.AES256(key), modes.CBC(iv))


def _pad(data: bytes) -> bytes:
    """PKCS7: fill the last block with bytes that say how many they are (RFC 5652, 6.3)."""
    count = AES256_BLOCK_SIZE_BYTES - len(data) % AES256_BLOCK_SIZE_BYTES
    return data + bytes([count]) * count


def _unpad(data: bytes, coldesc: ColDesc) -> bytes:
    """Take PKCS7 padding away; what has none was encrypted with another key."""
    count = data[-1]
    padding = bytes([count]) * count
    if not 1 <= count <= AES256_BLOCK_SIZE_BYTES or not data.endswith(padding):
        raise ValueError(f"column {coldesc.col!r} was not encrypted with this key")
    return data[:-count]
