"""Options: what is refused before anything is connected, and what None means."""

import dataclasses
from inspect import getdoc

import pytest

from driver.auth import PlainTextAuthProvider
from driver.cluster import Cluster
from driver.cluster.options import ClusterOptions
from driver.cluster.profiles import EXEC_PROFILE_DEFAULT, ExecutionProfile
from driver.net.settings import ConnectionSettings
from driver.policies import (
    ConstantReconnectionPolicy,
    ExponentialReconnectionPolicy,
    RetryPolicy,
    RoundRobinPolicy,
)
from driver.topology.endpoint import DefaultEndPoint


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"contact_points": "127.0.0.1"}, TypeError, "not one string"),
        ({"contact_points": []}, ValueError, "at least one node"),
        ({"contact_points": ["a", None]}, ValueError, "nothing but nodes"),
        ({"contact_points": [17]}, TypeError, "not 17"),
        ({"contact_points": [("a", 1, 2)]}, TypeError, "a pair of address and port"),
        ({"protocol_version": 2}, ValueError, "protocol_version 2 is not supported"),
        ({"protocol_version": 6}, ValueError, "protocol_version 6 is not supported"),
        ({"connect_timeout": -1}, ValueError, "connect_timeout must not be negative"),
        ({"idle_heartbeat_interval": -1}, ValueError, "idle_heartbeat_interval"),
        ({"conviction_policy_factory": 1}, ValueError, "which 1 cannot be"),
        ({"port": "9042"}, TypeError, "port is a whole number, not '9042'"),
        ({"port": 65536}, ValueError, "port must be between 1 and 65535: 65536"),
        ({"executor_threads": "2"}, TypeError, "executor_threads is a whole number"),
        ({"executor_threads": 0}, ValueError, "executor_threads must be 1 or more: 0"),
        ({"timestamp_generator": 5}, TypeError, "a function that gives microseconds, not a int"),
        ({"connections_per_host": 0}, ValueError, "connections_per_host"),
        ({"max_requests_per_connection": 32769}, ValueError, "between 1 and 32768"),
        ({"execution_profiles": {"a": 1}}, TypeError, "mapping of names to ExecutionProfiles"),
        ({"no_such_option": 1}, TypeError, "no_such_option"),
        ({"metadata_request_timeout": -1}, ValueError, "metadata_request_timeout"),
        ({"contact_points": 5}, TypeError, r"contact_points is a sequence of nodes, .*\[5\]"),
        ({"connect_timeout": "5"}, TypeError, "connect_timeout is a number, not '5'"),
        ({"control_connection_timeout": []}, TypeError, "control_connection_timeout is a number"),
        ({"auth_provider": ("u", "p")}, TypeError, "auth_provider is an AuthProvider, not a tuple"),
        ({"ssl_context": True}, TypeError, "ssl_context is an ssl.SSLContext, not a bool"),
        (
            {"reconnection_policy": ExponentialReconnectionPolicy},
            TypeError,
            "reconnection_policy is a ReconnectionPolicy, not a type",
        ),
    ],
)
def test_an_option_that_cannot_work_is_refused(keywords, error, message):
    with pytest.raises(error, match=message):
        ClusterOptions(**keywords)


@pytest.mark.parametrize("name", ["host", "hosts"])
def test_where_the_nodes_are_is_asked_for_by_its_name(name):
    with pytest.raises(TypeError, match=f"^{name} is no option: .*contact_points"):
        Cluster(**{name: "127.0.0.1"})


def test_no_password_is_in_an_error():
    with pytest.raises(TypeError) as caught:
        ClusterOptions(auth_provider=("me", "of mine"))
    assert "of mine" not in str(caught.value)


@pytest.mark.parametrize(
    "legacy",
    [{"load_balancing_policy": RoundRobinPolicy()}, {"default_retry_policy": RetryPolicy()}],
)
def test_profiles_and_older_arguments_exclude_each_other(legacy):
    with pytest.raises(ValueError, match="do not go together with"):
        ClusterOptions(execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile()}, **legacy)


def test_contact_points_of_every_kind_are_taken_and_kept_in_their_order():
    points = ["a", ("b", 9043), DefaultEndPoint("c", 9044)]
    assert ClusterOptions(contact_points=points).contact_points == tuple(points)


def test_options_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ClusterOptions().port = 9043


def test_none_asks_for_the_default_where_there_is_no_none():
    options = ClusterOptions.of(reconnection_policy=None, sockopts=None)
    assert isinstance(options.reconnection_policy, ExponentialReconnectionPolicy)
    assert options.sockopts == ()


def test_none_is_kept_where_it_means_for_ever():
    options = ClusterOptions.of(connect_timeout=None)
    assert options.connect_timeout is None


def test_policies_and_factories_are_not_shared_between_clusters():
    assert ClusterOptions().endpoint_factory is not ClusterOptions().endpoint_factory
    assert ClusterOptions().reconnection_policy is not ClusterOptions().reconnection_policy


def test_a_policy_that_is_given_is_kept():
    policy = ConstantReconnectionPolicy(1)
    assert ClusterOptions.of(reconnection_policy=policy).reconnection_policy is policy


def test_every_option_is_described():
    for field in dataclasses.fields(ClusterOptions):
        assert f"\n    {field.name}: " in getdoc(ClusterOptions), field.name


def test_no_bundle_is_none():
    assert Cluster(cloud=None).contact_points == ("127.0.0.1",)


def test_what_only_an_enterprise_cluster_would_hear_of_changes_nothing():
    cluster = Cluster(monitor_reporting_enabled=False, monitor_reporting_interval=5)
    assert not hasattr(cluster, "monitor_reporting_enabled")
    assert "monitor_reporting_interval" not in vars(cluster.options)


def test_schema_and_ring_can_be_switched_off_together():
    cluster = Cluster()
    cluster.set_meta_refresh_enabled(False)
    assert (cluster.schema_metadata_enabled, cluster.token_metadata_enabled) == (False, False)


def test_secrets_are_in_no_repr():
    options = ClusterOptions(
        ssl_options={"password": "of the key"}, auth_provider=PlainTextAuthProvider("me", "of mine")
    )
    settings = ConnectionSettings(
        ssl_options=options.ssl_options, auth_provider=options.auth_provider
    )
    for shown in (repr(options), repr(settings), repr(Cluster.from_options(options))):
        assert "of the key" not in shown
        assert "of mine" not in shown
