"""The life of a cluster: finding it, failing to, and leaving nothing behind."""

import asyncio
import inspect
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cql_cluster import CqlCluster, eventually
from cql_node import VOID, CqlNode

from driver.auth import PlainTextAuthProvider
from driver.cluster import Cluster, ClusterOptions, ExecutionProfile
from driver.cluster.cluster import _shut_down_what_is_left
from driver.cluster.core import ClusterCore
from driver.net.errors import ProtocolVersionUnsupported
from driver.policies import ConstantReconnectionPolicy, HostFilterPolicy, RoundRobinPolicy
from driver.protocol.errors import (
    AuthenticationFailed,
    DriverException,
    NoHostAvailable,
    UnresolvableContactPoints,
)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def nodes():
    with CqlCluster(3) as found:
        yield found


def test_all_nodes_are_found_through_one_contact_point(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        ports = {host.endpoint.port for host in cluster.metadata.all_hosts()}
        assert ports == {node.port for node in nodes.nodes}
        assert set(session.hosts) == set(cluster.metadata.all_hosts())
        assert all(host.is_up for host in session.hosts)
        assert all(state["open_count"] == 1 for state in session.get_pool_state().values())
        assert cluster.metadata.cluster_name == "Test Cluster"
        assert cluster.get_control_connection_host() in session.hosts


def test_a_cluster_knows_the_sessions_that_are_open(nodes):
    with Cluster(**nodes.options) as cluster:
        assert not cluster.sessions
        one, two = cluster.connect(), cluster.connect()
        assert set(cluster.sessions) == {one, two}
        one.shutdown()
        assert set(cluster.sessions) == {two}
    assert not cluster.sessions


def test_what_needs_a_cluster_that_was_shut_down_is_an_error_of_the_driver(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
    for needs in (
        lambda: session.prepare("SELECT"),
        lambda: session.set_keyspace("ks"),
        cluster.refresh_schema_metadata,
    ):
        with pytest.raises(DriverException, match="this cluster was shut down"):
            needs()


def test_shutdown_leaves_no_thread_no_socket_and_no_file(nodes):
    threads, files = set(threading.enumerate()), open_files()
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        session.execute("SELECT 1")
        session.submit(time.sleep, 0).result()
        assert set(threading.enumerate()) > threads
    assert eventually(lambda: set(threading.enumerate()) == threads)
    assert eventually(lambda: not any(node.clients for node in nodes.nodes))
    assert eventually(lambda: open_files() == files)


def test_shutting_down_a_session_closes_its_connections_and_no_others(nodes):
    with Cluster(**nodes.options) as cluster:
        one = cluster.connect(wait_for_all_pools=True)
        two = cluster.connect(wait_for_all_pools=True)
        assert eventually(lambda: sum(len(node.clients) for node in nodes.nodes) == 7)
        one.shutdown()
        one.shutdown()
        assert one.is_shutdown
        assert eventually(lambda: sum(len(node.clients) for node in nodes.nodes) == 4)
        assert two.execute("SELECT 1").all() == []
        with pytest.raises(NoHostAvailable, match="was shut down"):
            one.execute("SELECT 1")


def test_a_cluster_is_shut_down_once_and_connected_never_again(nodes):
    cluster = Cluster(**nodes.options)
    cluster.connect()
    cluster.shutdown()
    cluster.shutdown()
    assert cluster.is_shutdown
    with pytest.raises(DriverException, match="was shut down"):
        cluster.connect()


def test_a_cluster_that_was_never_connected_is_shut_down_at_once():
    threads = threading.active_count()
    cluster = Cluster()
    cluster.shutdown()
    assert cluster.is_shutdown
    assert threading.active_count() == threads


@pytest.mark.parametrize("whose", ["session", "cluster"])
def test_requests_that_wait_when_it_is_shut_down_hear_of_it_at_once(nodes, whose):
    cluster = Cluster(**nodes.options)
    session = cluster.connect(wait_for_all_pools=True)
    for node in nodes.nodes:
        node.fall_silent()
    for pool in session.get_pools():
        pool._drain_timeout = 3600
    futures = [session.execute_async("SELECT 1", timeout=None) for _ in range(1000)]
    session.shutdown() if whose == "session" else cluster.shutdown()
    for future in futures:
        with pytest.raises(DriverException):
            future.result()
    cluster.shutdown()


def test_contact_points_that_refuse_are_named_with_their_reasons():
    threads, files = set(threading.enumerate()), open_files()
    with CqlNode() as node:
        port = node.port
    cluster = Cluster(["127.0.0.1"], port)
    with pytest.raises(NoHostAvailable) as caught:
        cluster.connect()
    assert list(caught.value.errors) == [f"127.0.0.1:{port}"]
    assert "Cannot connect" in str(caught.value.errors)
    assert cluster.is_shutdown
    assert eventually(lambda: set(threading.enumerate()) == threads)
    assert eventually(lambda: open_files() == files)


def test_names_without_an_address_are_an_error_of_their_own():
    with pytest.raises(UnresolvableContactPoints, match="no-such-host"):
        Cluster(["no-such-host.invalid"]).connect()


def test_a_wrong_password_is_said_once_and_not_tried_again():
    with CqlCluster(1, users={"me": "right"}) as nodes:
        cluster = Cluster(
            **nodes.options,
            auth_provider=PlainTextAuthProvider("me", "wrong"),
            reconnection_policy=ConstantReconnectionPolicy(0.001),
        )
        with pytest.raises(NoHostAvailable) as caught:
            cluster.connect()
        (reason,) = caught.value.errors.values()
        assert isinstance(reason, AuthenticationFailed)
        assert "incorrect" in str(reason)
        assert "wrong" not in repr(cluster.auth_provider)
        node = nodes.nodes[0]
        assert eventually(lambda: not node.clients)
        assert node.accepted == 1


def test_the_right_password_is_taken():
    with CqlCluster(1, users={"me": "right"}) as nodes:
        provider = PlainTextAuthProvider("me", "right")
        with Cluster(**nodes.options, auth_provider=provider) as cluster:
            assert cluster.connect().execute("SELECT 1").all() == []


@pytest.mark.parametrize(("versions", "agreed"), [((3, 4, 5), 5), ((3, 4), 4), ((3,), 3)])
def test_the_highest_common_protocol_version_is_agreed_on(versions, agreed):
    with (
        CqlCluster(1, versions=versions) as nodes,
        Cluster(**nodes.options) as cluster,
    ):
        session = cluster.connect()
        assert session.execute("SELECT 1").all() == []
        assert cluster.protocol_version == agreed


def test_a_protocol_version_that_is_asked_for_is_not_haggled_over():
    with CqlCluster(1, versions=(3, 4)) as nodes:
        with pytest.raises(NoHostAvailable) as caught:
            Cluster(**nodes.options, protocol_version=5).connect()
        (reason,) = caught.value.errors.values()
        assert isinstance(reason, ProtocolVersionUnsupported)
        assert nodes.nodes[0].accepted == 1


def test_options_come_as_keywords_or_in_one_object():
    options = ClusterOptions(port=9999)
    assert Cluster(port=9999).options.port == 9999
    assert Cluster.from_options(options).options is options


def test_the_signature_of_a_cluster_is_that_of_its_options():
    assert inspect.signature(Cluster) == inspect.signature(ClusterOptions)
    with pytest.raises(TypeError, match="lenght"):
        Cluster(lenght=1)


def test_an_option_can_be_set_later_and_is_checked_then():
    cluster = Cluster(connect_timeout=3)
    cluster.connect_timeout = 4
    assert cluster.options.connect_timeout == 4
    with pytest.raises(ValueError, match="connect_timeout"):
        cluster.connect_timeout = -1
    assert cluster.connect_timeout == 4


def test_startup_names_driver_application_and_client(nodes):
    with Cluster(**nodes.options, application_name="shop", application_version="7") as cluster:
        cluster.connect(wait_for_all_pools=True)  # a connection that begins has said nothing yet
        said = nodes.nodes[0].clients[0].startup_options
        assert said["DRIVER_NAME"] == "cqlpath"
        assert (said["APPLICATION_NAME"], said["APPLICATION_VERSION"]) == ("shop", "7")
        assert said["CLIENT_ID"]
        sessions = {client.startup_options["SESSION_ID"] for client in nodes.nodes[0].clients}
        assert sessions == {str(cluster.session_id)}, "the same on each connection"


@pytest.mark.parametrize("told", [True, False])
def test_the_control_connection_alone_tells_how_the_driver_is_configured(nodes, told):
    with Cluster(**nodes.options, driver_config_reporting_enabled=told) as cluster:
        cluster.connect(wait_for_all_pools=True)
        said = [client.startup_options for node in nodes.nodes for client in node.clients]
        assert len(said) == 4
        reports = [options["DRIVER_CONFIG"] for options in said if "DRIVER_CONFIG" in options]
        assert reports == ['{"version":1}'] * told
        assert all("SESSION_ID" in options for options in said)


def test_an_application_does_not_speak_for_the_driver(nodes):
    class Application:
        def add_startup_options(self, options):
            for name in ("DRIVER_NAME", "DRIVER_VERSION", "SESSION_ID", "DRIVER_CONFIG", "SHOP"):
                options[name] = "the application's"

    with Cluster(**nodes.options, application_info=Application()) as cluster:
        cluster.connect(wait_for_all_pools=True)
        said = [client.startup_options for node in nodes.nodes for client in node.clients]
    assert {options["SESSION_ID"] for options in said} == {str(cluster.session_id)}
    spoken_for = {name for options in said for name, value in options.items() if "'s" in value}
    assert spoken_for == {"SHOP"}


def test_metrics_count_hosts_connections_and_requests(nodes):
    with Cluster(**nodes.options, metrics_enabled=True) as cluster:
        session = cluster.connect(wait_for_all_pools=True)
        for _ in range(5):
            session.execute("SELECT 1")
        stats = cluster.metrics.get_stats()
        assert (stats["known_hosts"], stats["connected_to"], stats["open_connections"]) == (3, 3, 3)
        assert stats["request_timer"]["count"] == 5
        assert stats["in_flight_requests"] == 0


def test_there_are_no_metrics_unless_they_are_asked_for():
    assert Cluster().metrics is None


def test_a_profile_that_is_added_brings_the_pools_that_it_needs(nodes):
    only_first = HostFilterPolicy(
        RoundRobinPolicy(), lambda host: host.endpoint.port == nodes.nodes[0].port
    )
    with Cluster(
        **nodes.options, execution_profiles={"near": ExecutionProfile(only_first)}
    ) as cluster:
        cluster.profile_manager.profiles.pop("near")
        cluster.profile_manager.default.load_balancing_policy = only_first
        session = cluster.connect(wait_for_all_pools=True)
        assert len(session.hosts) == 1
        cluster.add_execution_profile("all", ExecutionProfile(RoundRobinPolicy()))
        assert len(session.hosts) == 3
        used = {
            session.execute("SELECT 1", execution_profile="all").response_future.coordinator_host
            for _ in range(6)
        }
        assert len(used) == 3


def test_an_application_that_waits_in_a_callback_is_told_so(nodes):
    with Cluster(**nodes.options) as cluster:
        session = cluster.connect()
        heard, done, is_added = [], threading.Event(), threading.Event()

        async def answer_late(_):
            await asyncio.get_running_loop().run_in_executor(None, is_added.wait)
            return VOID

        def wait(_):
            for call in (
                lambda: session.execute("SELECT 1"),
                lambda: session.prepare("SELECT 1"),
                cluster.shutdown,
            ):
                try:
                    call()
                except RuntimeError as error:
                    heard.append(str(error))
            done.set()

        nodes.when("late", answer_late)
        session.execute_async("SELECT late").add_callback(wait)
        is_added.set()
        assert done.wait(10)
        assert len(heard) == 3
        assert session.execute("SELECT 1").all() == []


def test_many_threads_may_connect_at_the_same_time(nodes):
    with Cluster(**nodes.options) as cluster:
        sessions = []
        threads = [
            threading.Thread(target=lambda: sessions.append(cluster.connect())) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(sessions) == 4
        assert len(cluster.metadata.all_hosts()) == 3
        assert all(session.execute("SELECT 1").all() == [] for session in sessions)


def test_refreshing_reads_nodes_and_schema_again(nodes):
    with Cluster(**nodes.options) as cluster:
        cluster.connect()
        before = sum(node.count(0x07) for node in nodes.nodes)
        cluster.refresh_nodes()
        cluster.refresh_schema_metadata(0)
        cluster.refresh_keyspace_metadata("ks", 0)
        cluster.refresh_table_metadata("ks", "t", 0)
        cluster.refresh_user_type_metadata("ks", "u", 0)
        assert sum(node.count(0x07) for node in nodes.nodes) > before


def test_policies_that_ignore_every_host_are_the_reason_that_is_given(nodes):
    nobody = HostFilterPolicy(RoundRobinPolicy(), lambda _: False)
    with Cluster(**nodes.options, load_balancing_policy=nobody) as cluster:
        with pytest.raises(NoHostAvailable, match="policies ignore all of them"):
            cluster.connect()
        assert not cluster.core.sessions


def test_a_forgotten_cluster_does_not_keep_the_program_from_ending(nodes):
    program = f"""
from driver.cluster import Cluster
session = Cluster(**{nodes.options!r}).connect()
session.execute("SELECT 1")
print("done")
"""
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


def test_a_core_that_cannot_close_leaves_no_thread_behind(nodes):
    cluster = Cluster(**nodes.options)
    cluster.connect()
    close = cluster.core.close

    async def fail():
        await close()
        raise RuntimeError("a policy refuses to end")

    cluster.core.close = fail
    with pytest.raises(RuntimeError, match="refuses to end"):
        cluster.shutdown()
    assert not [t for t in threading.enumerate() if t.name == "driver-loop"]
    cluster.shutdown()  # again, it does nothing


def test_a_cluster_that_cannot_be_shut_down_at_exit_keeps_no_other_from_it(nodes, caplog):
    one, other = Cluster(**nodes.options), Cluster(**nodes.options)
    for cluster in (one, other):
        cluster.connect()
        close = cluster.shutdown

        def fail(close=close):
            close()
            raise RuntimeError("not today")

        cluster.shutdown = fail
    _shut_down_what_is_left()
    assert one.is_shutdown
    assert other.is_shutdown
    assert caplog.text.count("Cannot shut down") == 2


def test_whoever_connects_hears_that_another_thread_shut_the_cluster_down(nodes):
    for node in nodes.nodes:
        node.fall_silent()
    cluster, caught = Cluster(**nodes.options, connect_timeout=30), []

    def connect():
        try:
            cluster.connect()
        except DriverException as error:
            caught.append(error)

    connecting = threading.Thread(target=connect)
    connecting.start()
    assert eventually(lambda: nodes.nodes[0].accepted)
    cluster.shutdown()
    connecting.join(10)
    assert len(caught) == 1
    assert eventually(lambda: not nodes.nodes[0].clients)


def test_what_a_policy_raises_while_the_cluster_is_connected_is_raised(nodes):
    class Broken(RoundRobinPolicy):
        def populate(self, *_):
            raise RuntimeError("no such datacenter")

    cluster = Cluster(**nodes.options, load_balancing_policy=Broken())
    with pytest.raises(RuntimeError, match="no such datacenter"):
        cluster.connect()
    assert cluster.is_shutdown


def test_a_cluster_that_is_shut_down_lets_nobody_wait_for_a_change_of_the_schema():
    core, told = ClusterCore(ClusterOptions()), []
    core.is_shutdown = True
    core.schema_changed(None, {}, told.append)
    assert told == [False]
