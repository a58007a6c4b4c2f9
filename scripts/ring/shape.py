"""What a ring is like: nodes, data centres, TLS, passwords; and cassandra.yaml made from it.

A ring's shape is written down beside its nodes, so that a single node can be started again.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Self

from .failure import Failure
from .keystores import write as write_store
from .place import CQL_PORT, FOLDER, GOSSIP_PORT, address
from .releases import RELEASE

TOKENS_A_NODE = 4
WRITTEN = FOLDER / "ring.json"


@dataclasses.dataclass(frozen=True)
class Shape:
    """Everything that ``start`` was told.

    Attributes:
        nodes: how many.
        dcs: the data centre of each node; begun again when there are more nodes.
        racks: the rack of each node, likewise.
        tls: a PEM file with the nodes' private key and certificates, or None.
        mtls: a PEM file with the authorities that clients' certificates are from, or None.
        auth: whether to ask for a password; the first role is cassandra/cassandra.
        classes: a folder of further classes for the servers, or None.
        settings: further keys of cassandra.yaml.
        properties: further properties of the JVM.
    """

    nodes: int = 1
    dcs: tuple[str, ...] = ()
    racks: tuple[str, ...] = ()
    tls: str | None = None
    mtls: str | None = None
    auth: bool = False
    classes: str | None = None
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    properties: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def read(cls) -> Self:
        """The shape that the last ``start`` wrote down."""
        try:
            return cls(**json.loads(WRITTEN.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise Failure("there is no ring: start one first") from None

    def write(self) -> None:
        """Write the shape down."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        WRITTEN.write_text(json.dumps(dataclasses.asdict(self)), encoding="utf-8")

    def place_of(self, index: int) -> str | None:
        """cassandra-rackdc.properties of node ``index``; None where all share one place."""
        if not self.dcs and not self.racks:
            return None
        dcs, racks = self.dcs or ("datacenter1",), self.racks or ("rack1",)
        return f"dc={dcs[(index - 1) % len(dcs)]}\nrack={racks[(index - 1) % len(racks)]}\n"

    def yaml_of(self, index: int) -> str:
        """cassandra.yaml of node ``index``."""
        total = self.nodes * TOKENS_A_NODE
        mine = range(index - 1, total, self.nodes)
        seeds = ",".join(address(other) for other in range(1, self.nodes + 1))
        keys: dict[str, Any] = {
            "cluster_name": "cqlpath",
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "endpoint_snitch": "GossipingPropertyFileSnitch"
            if self.place_of(index)
            else "SimpleSnitch",
            "commitlog_sync": "periodic",
            "commitlog_sync_period": "1000ms",
            # Every node is a seed with tokens of its own: none waits for another to join.
            "seed_provider": [
                {
                    "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                    "parameters": [{"seeds": seeds}],
                }
            ],
            "num_tokens": TOKENS_A_NODE,
            "initial_token": ",".join(str((2 * k + 1) * 2**63 // total - 2**63) for k in mine),
            "auto_bootstrap": False,
            "listen_address": address(index),
            "rpc_address": address(index),
            "storage_port": GOSSIP_PORT,
            "native_transport_port": CQL_PORT,
            "user_defined_functions_enabled": True,
            "materialized_views_enabled": True,
            **self._passwords(),
            **self._encryption(),
            **self.settings,
        }
        # JSON is YAML.
        known = RELEASE.settings(keys)
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in known.items())

    def _passwords(self) -> dict[str, Any]:
        if not self.auth:
            return {}
        return {
            "authenticator": "PasswordAuthenticator",
            "authorizer": "CassandraAuthorizer",
            "role_manager": "CassandraRoleManager",
            # Tests change roles; what a node remembers of them would hide it for two seconds.
            "roles_validity": "100ms",
            "permissions_validity": "100ms",
            "credentials_validity": "100ms",
            # LOCAL_QUORUM, the default, fails where a data centre happens to hold no copy.
            "auth_read_consistency_level": "QUORUM",
            "auth_write_consistency_level": "QUORUM",
        }

    def _encryption(self) -> dict[str, Any]:
        if not self.tls:
            return {}
        options: dict[str, Any] = {
            "enabled": True,
            "optional": False,
            "require_client_auth": bool(self.mtls),
        }
        return {"client_encryption_options": options | self._stores(self.tls)}

    def _stores(self, tls: str) -> dict[str, Any]:
        """Where the server finds its key and those whom it trusts."""
        if RELEASE.pem:
            # PEM files need no keystore with a password.
            factory = "org.apache.cassandra.security.PEMBasedSslContextFactory"
            options: dict[str, Any] = {
                "ssl_context_factory": {"class_name": factory},
                "keystore": tls,
            }
            return options | ({"truststore": self.mtls} if self.mtls else {})
        options = write_store(Path(tls), FOLDER / "keys.p12", trusted=False)
        if self.mtls:
            options |= write_store(Path(self.mtls), FOLDER / "trusted.p12", trusted=True)
        return options

    def properties_of_all(self) -> dict[str, str]:
        """Properties of the JVM that follow from the shape."""
        if not self.auth:
            return self.properties
        return {
            "cassandra.superuser_setup_delay_ms": "250",
            "cassandra.auth_bcrypt_gensalt_log2_rounds": "4",
            # One copy of the roles would mean that nobody gets in while the node with it is down.
            "cassandra.system_auth.default_rf": str(min(self.nodes, 3)),
            **self.properties,
        }
