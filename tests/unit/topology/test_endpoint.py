"""Endpoints, and how rows of system tables become endpoints."""

# ruff: noqa: S104  (wildcard addresses are read here, nobody listens on them)

import socket
from types import SimpleNamespace
from uuid import UUID

import pytest

from driver.topology.endpoint import (
    DefaultEndPoint,
    DefaultEndPointFactory,
    EndPointFactory,
    SniEndPoint,
    SniEndPointFactory,
    UnixSocketEndPoint,
)


class Prefixing:
    def translate(self, addr):
        return f"via-{addr}"


class Cluster:
    port = 9142
    address_translator = Prefixing()


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"peer": "10.0.0.1", "rpc_address": "10.0.0.2"}, ("10.0.0.2", 9042)),
        ({"peer": "10.0.0.1", "rpc_address": "0.0.0.0"}, ("10.0.0.1", 9042)),
        ({"peer": "10.0.0.1", "rpc_address": "::"}, ("10.0.0.1", 9042)),
        ({"peer": "fe80::1", "rpc_address": "0:0:0:0:0:0:0:0"}, ("fe80::1", 9042)),
        ({"peer": "10.0.0.1", "rpc_address": None}, ("10.0.0.1", 9042)),
        (
            {"peer": "10.0.0.1", "peer_port": 7, "native_address": "10.0.0.3", "native_port": 8},
            ("10.0.0.3", 8),
        ),
        ({"peer": "10.0.0.1", "native_address": "0.0.0.0", "native_port": 8}, ("10.0.0.1", 8)),
        ({"native_transport_address": "10.0.0.4", "native_transport_port": 9}, ("10.0.0.4", 9)),
        ({"rpc_address": "10.0.0.5", "rpc_port": 9999, "listen_port": 7}, ("10.0.0.5", 9999)),
        ({"rpc_address": "0.0.0.0", "broadcast_address": "10.0.0.6"}, ("10.0.0.6", 9042)),
        ({"rpc_address": "0.0.0.0", "listen_address": "10.0.0.7"}, ("10.0.0.7", 9042)),
        ({"rpc_address": "10.0.0.5", "rpc_port": 0}, ("10.0.0.5", 9042)),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else ",".join(value),
)
def test_a_row_says_where_its_node_is(row, expected):
    endpoint = DefaultEndPointFactory().create(row)
    assert (endpoint.address, endpoint.port) == expected
    assert endpoint.resolve() == expected


def test_a_row_without_an_address_is_refused():
    with pytest.raises(ValueError, match="without an address"):
        DefaultEndPointFactory().create({"peer": None, "rpc_address": "0.0.0.0"})


def test_the_port_is_the_row_s_then_the_factory_s_then_the_cluster_s():
    row = {"peer": "10.0.0.1", "native_address": "10.0.0.1", "native_port": 1}
    bare = {"peer": "10.0.0.1"}
    given = DefaultEndPointFactory(port=2)
    given.configure(Cluster())
    by_cluster = DefaultEndPointFactory()
    by_cluster.configure(Cluster())
    assert given.create(row).port == 1
    assert given.create(bare).port == 2
    assert by_cluster.create(bare).port == 9142


def test_announced_addresses_are_translated():
    factory = DefaultEndPointFactory().configure(Cluster())
    assert factory.create({"peer": "10.0.0.1"}).address == "via-10.0.0.1"


def test_a_cluster_may_have_no_translator_and_no_port():
    factory = DefaultEndPointFactory().configure(
        SimpleNamespace(address_translator=None, port=None)
    )
    assert factory.create({"peer": "10.0.0.1"}) == DefaultEndPoint("10.0.0.1", 9042)
    assert not factory.may_wait


def test_configure_returns_the_factory():
    factory = EndPointFactory()
    cluster = Cluster()
    assert factory.configure(cluster) is factory
    assert factory.cluster is cluster
    with pytest.raises(NotImplementedError):
        factory.create({})


def addresses(*found):
    return lambda *_: [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 30002)) for address in found
    ]


class TestSni:
    factory = SniEndPointFactory("proxy.example.org", 30002)

    def test_the_server_name_goes_into_the_handshake(self):
        endpoint = self.factory.create_from_sni("node")
        assert (endpoint.address, endpoint.port) == ("proxy.example.org", 30002)
        assert endpoint.ssl_options == {"server_hostname": "node"}
        assert endpoint.server_name == "node"
        assert str(endpoint) == "proxy.example.org:30002:node"

    def test_nodes_behind_one_proxy_differ(self):
        one, same, other = map(self.factory.create_from_sni, ("one", "one", "other"))
        assert one == same
        assert hash(one) == hash(same)
        assert one != other
        assert one < other
        assert one != SniEndPoint("proxy.example.org", "one", 9999)
        assert one != DefaultEndPoint("proxy.example.org", 30002)

    def test_each_resolve_gives_the_next_address(self, monkeypatch):
        monkeypatch.setattr(socket, "getaddrinfo", addresses("10.0.0.2", "10.0.0.1", "10.0.0.2"))
        endpoint = SniEndPoint("proxy.example.org", "node", 30002)
        got = [endpoint.resolve()[0] for _ in range(3)]
        assert got == ["10.0.0.1", "10.0.0.2", "10.0.0.1"]

    def test_endpoints_start_at_different_addresses(self, monkeypatch):
        monkeypatch.setattr(socket, "getaddrinfo", addresses("10.0.0.1", "10.0.0.2"))
        factory = SniEndPointFactory("proxy.example.org", 30002)
        starts = {factory.create_from_sni(name).resolve()[0] for name in "ab"}
        assert starts == {"10.0.0.1", "10.0.0.2"}

    def test_a_proxy_without_an_address_is_named(self, monkeypatch):
        def fail(*_):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", fail)
        with pytest.raises(OSError, match=r"resolve the proxy proxy\.example\.org: Name or"):
            self.factory.create_from_sni("node").resolve()

    def test_a_row_leads_to_its_host_id(self):
        endpoint = self.factory.create({"host_id": UUID(int=7), "rpc_address": "10.0.0.1"})
        assert endpoint.server_name == str(UUID(int=7))
        with pytest.raises(ValueError, match="without a host id"):
            self.factory.create({"rpc_address": "10.0.0.1"})


def test_kinds_of_endpoints_have_one_order():
    path, proxy, plain = UnixSocketEndPoint("/x"), SniEndPoint("b", "n"), DefaultEndPoint("a")
    assert sorted([path, proxy, plain]) == sorted([plain, proxy, path]) == [path, plain, proxy]
