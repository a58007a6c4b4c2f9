"""Hosts and endpoints are values with a little state."""

import os
import pickle
import socket
import subprocess
import sys

import pytest

from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint
from driver.topology.host import Host


class CountingConviction:
    def __init__(self, host):
        self.host = host
        self.failures = 0

    def add_failure(self, connection_exc):  # noqa: ARG002  (the contract's name)
        self.failures += 1
        return self.failures > 1

    def reset(self):
        self.failures = 0


def test_endpoints_are_values():
    assert DefaultEndPoint("a") == DefaultEndPoint("a", 9042) != DefaultEndPoint("a", 9043)
    assert DefaultEndPoint("a") < DefaultEndPoint("b")
    assert len({DefaultEndPoint("a"), DefaultEndPoint("a"), UnixSocketEndPoint("a")}) == 2
    assert DefaultEndPoint("a") != "a"


def test_endpoints_say_how_to_connect():
    default, unix = DefaultEndPoint("h", 1), UnixSocketEndPoint("/run/cql")
    assert (default.resolve(), str(default)) == (("h", 1), "h:1")
    assert (unix.resolve(), str(unix), unix.port) == (("/run/cql", None), "/run/cql", None)
    assert (default.socket_family, unix.socket_family) == (socket.AF_UNSPEC, socket.AF_UNIX)
    assert default.ssl_options is None


def test_a_host_needs_an_endpoint():
    with pytest.raises(ValueError, match="needs an endpoint"):
        Host("")


def test_hosts_are_equal_if_they_are_reached_in_the_same_way():
    assert Host("a", rack="r1") == Host(DefaultEndPoint("a"), rack="r2")
    assert Host("a") < Host("b")
    assert len({Host("a"), Host("a")}) == 1
    assert Host("a") != "a"


def test_a_host_tells_its_address_and_location():
    host = Host("a", datacenter="dc")
    assert (host.address, str(host), repr(host)) == ("a", "a:9042", "<Host: a:9042 dc>")


def test_a_host_goes_up_and_down_and_counts_failures():
    host = Host("a", CountingConviction)
    assert host.is_up is None
    assert [host.signal_connection_failure(OSError()) for _ in range(2)] == [False, True]
    host.set_down()
    assert host.is_up is False
    host.set_up()
    assert host.is_up
    assert host.conviction_policy.failures == 0


def test_without_a_conviction_policy_failures_convict_nobody():
    assert Host("a").signal_connection_failure(OSError()) is False


def test_a_host_can_be_pickled():
    copy = pickle.loads(pickle.dumps(Host("a", CountingConviction, "dc", "r")))  # noqa: S301  (our own bytes)
    assert (copy, copy.datacenter, copy.conviction_policy) == (Host("a"), "dc", None)
    with copy.lock:
        pass


def test_a_pickled_host_has_the_hash_of_the_process_that_reads_it():
    made = pickle.dumps(Host("127.0.0.1", datacenter="dc"))
    program = (
        "import pickle, sys; from driver.topology.host import Host; "
        "host = pickle.load(sys.stdin.buffer); "
        "assert hash(host) == hash(Host('127.0.0.1')); assert {host: 1}[Host('127.0.0.1')] == 1"
    )
    for seed in ("1", "2"):  # text, and so an address, hashes differently with each
        subprocess.run(
            [sys.executable, "-c", program],
            input=made,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )


def test_a_conviction_policy_sees_a_host_of_which_nothing_is_known_yet():
    seen = []
    Host("127.0.0.1", lambda host: seen.append((repr(host), host.datacenter, host.is_up)))
    assert seen == [("<Host: 127.0.0.1:9042>", None, None)]


def test_a_class_of_hosts_may_know_better_whether_one_is_up():
    class AlwaysUp(Host):
        is_up = property(lambda _: True)

    class Up(Host):
        is_up = True

    assert AlwaysUp("127.0.0.1").is_up
    assert Up("127.0.0.1").is_up
