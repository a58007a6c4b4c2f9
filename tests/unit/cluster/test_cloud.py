"""A cluster that is described by a secure connect bundle, behind a service and a proxy."""

import asyncio
import contextlib
import zipfile
from uuid import UUID

import pytest
import trustme
from cloud_services import MetadataService, server_context, write_bundle
from cql_cluster import CqlCluster, eventually
from cql_node import rows
from sni_proxy import SniProxy

from driver import aio
from driver.auth import PlainTextAuthProvider
from driver.cluster import Cluster
from driver.cluster.options import ClusterOptions
from driver.protocol.errors import UnresolvableContactPoints
from driver.topology.endpoint import DefaultEndPointFactory, SniEndPoint
from driver.types import Int32Type


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


class Cloud:
    """Three nodes, their proxy, the service and the bundle; of all, what a test may change."""

    def __init__(self, stack, authority, folder, **options):
        # Nodes are not named in their certificate: the name of the handshake is a host id.
        context = server_context(authority, "nodes.example.org")
        self.nodes = stack.enter_context(CqlCluster(3, ssl_context=context, **options))
        self.nodes.when("FROM t", rows([("k", Int32Type)], [(1,)]))
        self.host_ids = [str(UUID(int=number)) for number in (1, 2, 3)]
        ports = [node.port for node in self.nodes.nodes]
        self.proxy = stack.enter_context(SniProxy(dict(zip(self.host_ids, ports, strict=True))))
        self.service = stack.enter_context(
            MetadataService(
                server_context(authority, "localhost"), self.proxy.port, self.host_ids[:2]
            )
        )
        self.path = folder / "bundle.zip"
        self.write(authority)

    def write(self, authority, **config):
        config = {"host": "localhost", "port": self.service.port, **config}
        write_bundle(self.path, authority, **config)
        return {"secure_connect_bundle": str(self.path)}


@pytest.fixture
def cloud(authority, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "localhost")
    with contextlib.ExitStack() as stack:
        yield lambda **options: Cloud(stack, authority, tmp_path, **options)


def test_every_node_is_reached_through_the_proxy_by_its_host_id(cloud, authority):
    there = cloud()
    with Cluster(cloud=there.write(authority)) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        for _ in range(6):
            assert session.execute("SELECT k FROM t").one() == (1,)
        endpoints = {host.endpoint for host in cluster.metadata.all_hosts()}
    assert endpoints == {
        SniEndPoint("localhost", host_id, there.proxy.port) for host_id in there.host_ids
    }
    assert there.service.asked == ["/metadata"]
    assert set(there.proxy.names) == set(there.host_ids)
    assert all("SELECT k FROM t" in node.texts for node in there.nodes.nodes)


def test_a_session_of_an_event_loop_does_the_same(cloud, authority):
    there = cloud()

    async def main():
        async with aio.Cluster(cloud=there.write(authority)) as cluster:
            session = await cluster.connect()
            return (await session.execute("SELECT k FROM t")).one()

    assert asyncio.run(main()) == (1,)


def test_the_user_of_a_bundle_is_who_we_are_unless_another_one_is_given(cloud, authority):
    there = cloud(users={"u": "p", "other": "word"})
    bundle = there.write(authority, username="u", password="p")  # noqa: S106  (of the node here)
    with Cluster(cloud=bundle) as cluster:
        cluster.connect()
    other = PlainTextAuthProvider("other", "word")
    with Cluster(cloud=bundle, auth_provider=other) as cluster:
        cluster.connect()
        assert cluster.auth_provider is other


def test_options_that_are_replaced_do_not_read_the_bundle_again(cloud, authority):
    options = ClusterOptions.of(cloud=cloud().write(authority))
    with Cluster(cloud=cloud().write(authority)) as cluster:
        known = cluster.cloud
        cluster.connect_timeout = 7
        assert cluster.cloud is known
    assert options.contact_points == (options.cloud,)


def test_a_node_that_comes_back_is_reached_again(cloud, authority):
    there = cloud()
    with Cluster(cloud=there.write(authority)) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        there.nodes.nodes[2].drop_connections()
        hosts = {str(host.host_id): host for host in cluster.metadata.all_hosts()}
        host = hosts[there.host_ids[2]]
        assert eventually(lambda: session.core.pools.open_count(host))


def test_a_service_with_a_certificate_of_others_is_refused(cloud):
    there = cloud()
    bundle = there.write(trustme.CA())
    with Cluster(cloud=bundle) as cluster, pytest.raises(UnresolvableContactPoints, match="certif"):
        cluster.connect()
    assert not there.service.asked
    assert not there.proxy.names


def test_the_service_s_certificate_has_to_be_for_its_name(cloud, authority, monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    there = cloud()
    bundle = there.write(authority, host="127.0.0.1")
    with (
        Cluster(cloud=bundle) as cluster,
        pytest.raises(UnresolvableContactPoints, match=r"127\.0\.0\.1"),
    ):
        cluster.connect()
    assert not there.service.asked


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (503, b"{}"),
        (200, b"no json"),
        (200, b"[]"),
        (200, b'{"contact_info": {}}'),
        (200, b'{"contact_info": {"sni_proxy_address": "p", "contact_points": []}}'),
        (200, b'{"contact_info": {"sni_proxy_address": "p:1", "contact_points": 1}}'),
    ],
)
def test_a_service_that_does_not_answer_is_named(cloud, authority, status, answer):
    there = cloud()
    there.service.status, there.service.answer = status, answer
    with (
        Cluster(cloud=there.write(authority)) as cluster,
        pytest.raises(UnresolvableContactPoints, match="/metadata does not say which nodes"),
    ):
        cluster.connect()


@pytest.mark.parametrize(
    "given",
    [
        {"contact_points": ["127.0.0.1"]},
        {"ssl_options": {}},
        {"endpoint_factory": DefaultEndPointFactory()},
    ],
)
def test_what_a_bundle_decides_cannot_be_given_beside_it(cloud, authority, given):
    with pytest.raises(ValueError, match=f"{next(iter(given))} does not go together with cloud"):
        Cluster(cloud=cloud().write(authority), **given)


@pytest.mark.parametrize("cloud_option", [{}, {"secure_connect_bundle": "x", "other": 1}])
def test_an_option_without_a_bundle_is_refused(cloud_option):
    with pytest.raises(ValueError, match="cloud needs secure_connect_bundle"):
        Cluster(cloud=cloud_option)


def test_what_is_no_bundle_is_refused(tmp_path, authority):
    path = tmp_path / "bundle.zip"
    with pytest.raises(FileNotFoundError):
        Cluster(cloud={"secure_connect_bundle": path})
    path.write_bytes(b"no zip file")
    with pytest.raises(ValueError, match="is no secure connect bundle"):
        Cluster(cloud={"secure_connect_bundle": path})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
    with pytest.raises(ValueError, match="is no secure connect bundle: 'host'"):
        Cluster(cloud={"secure_connect_bundle": path})
    write_bundle(path, authority, host="h", port=1)
    with path.open("rb") as file:
        cluster = Cluster(cloud={"secure_connect_bundle": file, "use_default_tempdir": True})
    assert repr(cluster.cloud) == "<Cloud: h:1>"


def test_no_key_is_left_on_the_disk(tmp_path, authority, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    bundle = write_bundle(tmp_path / "bundle.zip", authority, host="h", port=1)
    Cluster(cloud={"secure_connect_bundle": bundle})
    assert not any((tmp_path / "own").iterdir())
