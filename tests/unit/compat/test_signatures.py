"""What applications call takes the peer's arguments, in its order and by its names."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver.cluster.options import ClusterOptions
from driver.compat.tables import MEMBERS_LEFT_OUT

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("peer_signatures.py")
MEMBERS = Path(__file__).with_name("peer_members.py")

#: What takes other arguments or stands elsewhere, and why.
KNOWN = {
    "cassandra.cluster.Cluster": "all options but the first two are keywords",
    "cassandra.cluster.Cluster.connection_class": "an option; not a default on the class",
    "cassandra.cluster.Cluster.conviction_policy_factory": "an option; not a default on the class",
    "cassandra.cluster.ExecutionProfile": "no continuous_paging_options, of DataStax Enterprise",
    "cassandra.cluster.ExecutionProfile.row_factory": "an attribute; not a default on the class",
    "cassandra.cluster.ResponseFuture": "Session.execute_async makes futures",
    "cassandra.cluster.ResponseFuture.send_request": "called by the session",
    "cassandra.cluster.Session": "Cluster.connect makes sessions",
    "cassandra.cluster.Session.execute_concurrent": "the function: its session is self",
    "cassandra.cluster.Session.execute_concurrent_async": "the function: its session is self",
    "cassandra.cluster.Session.client_protocol_handler": "a property",
    "cassandra.policies.ConstantSpeculativeExecutionPolicy.ConstantSpeculativeExecutionPlan": (
        "a class of its own, beside the policy"
    ),
    "cassandra.query.PreparedStatement": "is_lwt stands before the last one, as in scylla-driver",
    "cassandra.util.SortedSet.add": "the name of the argument is that of collections.abc",
    "cassandra.util.SortedSet.remove": "the name of the argument is that of collections.abc",
}


def described(*command):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    return described(SCRIPT)


def test_calls_take_the_same_arguments_but_for_known_differences(theirs):
    ours = described("-m", "driver.compat", SCRIPT)
    differing = set()
    for name, methods in theirs.items():
        for method, parameters in methods.items():
            taken = ours[name].get(method, False)
            same = taken is not False and (
                None in (taken, parameters) or taken[: len(parameters)] == parameters
            )
            if not same:
                differing.add(name if method == "()" else f"{name}.{method}")
    assert differing - set(MEMBERS_LEFT_OUT) == set(KNOWN)


@pytest.mark.usefixtures("theirs")
def test_members_that_are_left_out_are_there_and_not_here():
    assert described(MEMBERS, *MEMBERS_LEFT_OUT) == list(MEMBERS_LEFT_OUT)
    assert described("-m", "driver.compat", MEMBERS, *MEMBERS_LEFT_OUT) == []


def test_a_cluster_takes_every_option_of_the_peer(theirs):
    taken = {field.name for field in dataclasses.fields(ClusterOptions)}
    taken |= {"monitor_reporting_enabled", "monitor_reporting_interval"}  # and ignores them
    assert set(theirs["cassandra.cluster.Cluster"]["()"]) <= taken
