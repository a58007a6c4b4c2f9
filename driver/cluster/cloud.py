"""Secure connect bundles: a cluster behind a proxy that chooses nodes by server name.

A bundle, such as those of DataStax Astra, is a zip file with ``config.json`` and the certificates
``ca.crt``, ``cert`` and ``key``. A service that it names says, over TLS, where the proxy is and
which nodes there are, by host id. The proxy leads to the node whose host id the handshake names.

The authority of a bundle is its own and the server names are host ids, so certificates of nodes are
checked to be of that authority, not for a name; that of the service is checked for its name, too.

What reads a bundle is imported where it is used, so that programs without one do not load it.
"""

from __future__ import annotations

import json
import ssl
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from ..topology.endpoint import DEFAULT_PORT, SniEndPointFactory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO
    from zipfile import ZipFile

    from ..topology.endpoint import EndPoint

_KEYS: Final = {"secure_connect_bundle", "connect_timeout", "ssl_context", "use_default_tempdir"}
#: More than any cluster's nodes need.
_MOST_BYTES: Final = 1 << 20


class Cloud(SniEndPointFactory):
    """A cluster as its secure connect bundle describes it.

    Args:
        bundle: the zip file: a path, or a file that is open for reading bytes.
        connect_timeout: seconds for the service to answer.
        ssl_context: in place of the certificates in the bundle.

    Attributes:
        host, port: of the service that says which nodes there are.
        username, password: of a user, if the bundle names one; None otherwise.
        ssl_context: for the nodes' certificates.
    """

    def __init__(
        self,
        bundle: str | Path | IO[bytes],
        connect_timeout: float = 5.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Read the bundle; nobody is asked anything yet.

        Raises:
            OSError: it cannot be read.
            ValueError: it is none.
        """
        zipfile = import_module("zipfile")
        super().__init__("", DEFAULT_PORT)
        self.connect_timeout = connect_timeout
        try:
            with zipfile.ZipFile(bundle) as archive:
                config = json.loads(archive.read("config.json"))
                self.host, self.port = str(config["host"]), int(config["port"])
                self.username = config.get("username") or None
                self.password = config.get("password") or None
                self.ssl_context = ssl_context or _context(archive, checks_name=False)
                self._context_of_service = ssl_context or _context(archive, checks_name=True)
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError, ssl.SSLError) as error:
            raise ValueError(f"{bundle} is no secure connect bundle: {error}") from error

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """From a mapping with ``secure_connect_bundle``, as cassandra-driver takes it.

        ``connect_timeout`` and ``ssl_context`` are those of the class; ``use_default_tempdir`` is
        accepted, and always so.

        Raises:
            OSError, ValueError: as the class itself; or there is no such key, or an unknown one.
        """
        if "secure_connect_bundle" not in options or not options.keys() <= _KEYS:
            raise ValueError(
                f"cloud needs secure_connect_bundle and takes {', '.join(sorted(_KEYS))}, "
                f"not {', '.join(sorted(options))}"
            )
        return cls(
            options["secure_connect_bundle"],
            options.get("connect_timeout", 5.0),
            options.get("ssl_context"),
        )

    def endpoints(self) -> list[EndPoint]:
        """The nodes that there are now. Asks the service, and waits for it.

        Raises:
            OSError: it cannot be reached, its certificate is not that of the bundle, or its answer
                makes no sense.
        """
        url = f"https://{self.host}:{self.port}/metadata"
        try:
            with import_module("urllib.request").urlopen(
                url, timeout=self.connect_timeout, context=self._context_of_service
            ) as response:
                contact = json.loads(response.read(_MOST_BYTES))["contact_info"]
            address, _, port = contact["sni_proxy_address"].rpartition(":")
            nodes = [str(host_id) for host_id in contact["contact_points"]]
            self._proxy_address, self._port = address.strip("[]"), int(port)
        except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
            getattr(error, "close", bool)()  # of an error of HTTP, which has its connection
            raise OSError(f"{url} does not say which nodes there are: {error!r}") from error
        return [self.create_from_sni(node) for node in nodes]

    def __repr__(self) -> str:
        """The service; not who the user is."""
        return f"<{type(self).__name__}: {self.host}:{self.port}>"


def _context(archive: ZipFile, *, checks_name: bool) -> ssl.SSLContext:
    """A context with the certificates of a bundle."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = checks_name
    context.load_verify_locations(cadata=archive.read("ca.crt").decode("ascii"))
    with import_module("tempfile").TemporaryDirectory() as folder:  # which nobody else may read
        certificate, key = Path(folder, "cert"), Path(folder, "key")
        for file in (certificate, key):
            file.write_bytes(archive.read(file.name))
        context.load_cert_chain(certificate, key)
    return context
