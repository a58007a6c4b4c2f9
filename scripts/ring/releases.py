"""What the releases of Cassandra need that tests are run against: a Java, and what its yaml says.

CASSANDRA_VERSION names another release than the first one, by its number or its beginning (4.1).
"""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import TYPE_CHECKING, Any

from .failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _opened(*packages: str, how: str = "opens") -> tuple[str, ...]:
    return tuple(f"--add-{how}={package}=ALL-UNNAMED" for package in packages)


#: conf/jvm11-server.options of the release.
_JAVA_11 = (
    "-Djdk.attach.allowAttachSelf=true",
    *_opened(
        "java.base/jdk.internal.misc",
        "java.base/jdk.internal.ref",
        "java.base/sun.nio.ch",
        "java.management.rmi/com.sun.jmx.remote.internal.rmi",
        "java.rmi/sun.rmi.registry",
        "java.rmi/sun.rmi.server",
        "java.sql/java.sql",
        how="exports",
    ),
    *_opened(
        "java.base/java.lang.module",
        "java.base/jdk.internal.loader",
        "java.base/jdk.internal.ref",
        "java.base/jdk.internal.reflect",
        "java.base/jdk.internal.math",
        "java.base/jdk.internal.module",
        "java.base/jdk.internal.util.jar",
        "jdk.management/com.sun.management.internal",
    ),
)
#: What 5.0 reaches into; it does not start without these.
_JAVA_17 = _opened("java.base/sun.nio.ch", "java.base/jdk.internal.ref", "java.base/java.io")


def _milliseconds(text: str) -> int:
    return int(text.removesuffix("ms"))


def _same(value: object) -> object:
    return value


#: Keys of cassandra.yaml before 4.1: their names then, and their values; None: there was none.
_BEFORE_4_1: Mapping[str, tuple[str, Callable[[Any], object]] | None] = {
    "auth_read_consistency_level": None,
    "auth_write_consistency_level": None,
    "commitlog_sync_period": ("commitlog_sync_period_in_ms", _milliseconds),
    "credentials_validity": ("credentials_validity_in_ms", _milliseconds),
    "materialized_views_enabled": ("enable_materialized_views", _same),
    "permissions_validity": ("permissions_validity_in_ms", _milliseconds),
    "roles_validity": ("roles_validity_in_ms", _milliseconds),
    "user_defined_functions_enabled": ("enable_user_defined_functions", _same),
}


@dataclasses.dataclass(frozen=True)
class Release:
    """A release that can be started.

    Attributes:
        version: its number.
        java: the major version of Java that it is run on.
        modules: what it is made of, in the group org.apache.cassandra of Maven Central.
        others: what else it needs, as GROUP:NAME:VERSION:CLASSIFIER; nothing of what that needs.
        options: the Java's options.
        renamed: keys of cassandra.yaml that have another name or form in it.
        added: keys of it that no other release has.
        peers: the table of the other nodes.
        pem: whether it reads keys from PEM files; else they are put into keystores.
    """

    version: str
    java: int
    modules: tuple[str, ...] = ("cassandra-all",)
    others: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    renamed: Mapping[str, tuple[str, Callable[[Any], object]] | None] = dataclasses.field(
        default_factory=dict
    )
    added: Mapping[str, object] = dataclasses.field(default_factory=dict)
    peers: str = "system.peers_v2"
    pem: bool = True

    def settings(self, keys: Mapping[str, object]) -> dict[str, object]:
        """Keys of cassandra.yaml as this release knows them."""
        known = dict(self.added)
        for key, value in keys.items():
            then = self.renamed.get(key, (key, _same))
            if then is not None:
                name, form = then
                known[name] = form(value)
        return known


RELEASES = (
    Release("5.0.9", java=17, options=_JAVA_17),
    Release("4.1.10", java=11, options=_JAVA_11),
    Release(
        "3.11.19",
        java=8,
        modules=("cassandra-all", "cassandra-thrift"),
        # Functions of users are compiled against it.
        others=("com.datastax.cassandra:cassandra-driver-core:3.0.1:shaded",),
        renamed=_BEFORE_4_1,
        added={"start_native_transport": True, "start_rpc": False},
        peers="system.peers",
        pem=False,
    ),
)


def named(version: str | None) -> Release:
    """A release by its number or the beginning of it; the first one without a name.

    Raises:
        Failure: there is none of that name.
    """
    for release in RELEASES:
        if not version or f"{release.version}.".startswith(f"{version}."):
            return release
    known = ", ".join(release.version for release in RELEASES)
    raise Failure(f"CASSANDRA_VERSION={version} is none of {known}")


try:
    RELEASE = named(os.environ.get("CASSANDRA_VERSION"))
except Failure as unknown:
    sys.stderr.write(f"cassandra: {unknown}\n")
    sys.exit(2)
