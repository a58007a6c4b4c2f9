"""Certificates for the nodes, for clients, and wrong ones, made anew for each run by trustme."""

from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


def _write(path: Path, leaf: trustme.LeafCert) -> None:
    """Key and certificates in one PEM file; the key as PKCS #8, which is what Cassandra reads."""
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    parts = [key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())]
    parts += [certificate.bytes() for certificate in leaf.cert_chain_pems]
    path.write_bytes(b"".join(parts))
    path.chmod(0o600)


def make(folder: Path, addresses: list[str]) -> Path:
    """Write authority.pem, stranger.pem, nodes.pem, client.pem and impostor.pem into a folder.

    Args:
        folder: where to.
        addresses: what the nodes' certificate is for; "localhost" is added.
    """
    authority, stranger = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(folder / "authority.pem")
    stranger.cert_pem.write_to_path(folder / "stranger.pem")
    _write(folder / "nodes.pem", authority.issue_cert("localhost", *addresses))
    _write(folder / "client.pem", authority.issue_cert("client@example.com"))
    _write(folder / "impostor.pem", stranger.issue_cert("client@example.com"))
    return folder
