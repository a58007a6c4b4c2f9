"""Keys and certificates in PKCS #12 stores, for servers that read no PEM files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .failure import Failure

if TYPE_CHECKING:
    from pathlib import Path

#: It keeps nothing secret: the PEM files lie beside.
PASSWORD = "cassandra"  # noqa: S105


def write(pem: Path, into: Path, *, trusted: bool) -> dict[str, Any]:
    """Put what a PEM file has into a store.

    Args:
        pem: a private key and its certificates, or certificates of authorities.
        into: the store.
        trusted: whether they are authorities.

    Returns:
        The options of client_encryption_options that name the store.

    Raises:
        Failure: the package that writes such stores is not installed.
    """
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
            BestAvailableEncryption,
            load_pem_private_key,
            pkcs12,
        )
        from cryptography.x509 import load_pem_x509_certificates  # noqa: PLC0415
    except ImportError:
        raise Failure("TLS of this release needs the package cryptography of Python") from None
    text = pem.read_bytes()
    certificates = load_pem_x509_certificates(text)
    hidden = BestAvailableEncryption(PASSWORD.encode())
    if trusted:
        entries = [
            pkcs12.PKCS12Certificate(each, b"%d" % number)
            for number, each in enumerate(certificates)
        ]
        into.write_bytes(pkcs12.serialize_java_truststore(entries, hidden))
        return {"truststore": str(into), "truststore_password": PASSWORD, "store_type": "PKCS12"}
    key: Any = load_pem_private_key(text, None)
    first, *others = certificates
    into.write_bytes(pkcs12.serialize_key_and_certificates(b"node", key, first, others, hidden))
    return {"keystore": str(into), "keystore_password": PASSWORD, "store_type": "PKCS12"}
