"""Execution profiles: names, copies, and policies that are told of hosts once."""

import pytest

from driver.cluster.options import ClusterOptions
from driver.cluster.profiles import (
    EXEC_PROFILE_DEFAULT,
    ConfigMode,
    ExecutionProfile,
    ProfileManager,
)
from driver.policies import (
    HostDistance,
    NoSpeculativeExecutionPolicy,
    RetryPolicy,
    RoundRobinPolicy,
)
from driver.protocol.consistency import ConsistencyLevel
from driver.topology.host import Host


class Recorder(RoundRobinPolicy):
    """Remembers what it is told, and gives every host one distance."""

    def __init__(self, distance=HostDistance.LOCAL):
        super().__init__()
        self.heard = []
        self._distance = distance

    def distance(self, _):
        return self._distance

    def on_up(self, host):
        self.heard.append(("up", host))

    def on_down(self, host):
        self.heard.append(("down", host))

    def on_add(self, host):
        self.heard.append(("add", host))

    def on_remove(self, host):
        self.heard.append(("remove", host))


def test_there_is_always_a_default_profile():
    manager = ProfileManager.from_options(ClusterOptions())
    assert manager.get(EXEC_PROFILE_DEFAULT) is manager.default
    assert manager.default.consistency_level == ConsistencyLevel.LOCAL_ONE
    assert manager.default.request_timeout == 10.0


def test_older_arguments_are_those_of_the_default_profile():
    lbp, retry = RoundRobinPolicy(), RetryPolicy()
    manager = ProfileManager.from_options(
        ClusterOptions(load_balancing_policy=lbp, default_retry_policy=retry)
    )
    assert manager.default.load_balancing_policy is lbp
    assert manager.default.retry_policy is retry
    assert manager.mode is ConfigMode.LEGACY


def test_a_profile_is_found_by_name_and_taken_as_it_is():
    profile = ExecutionProfile()
    manager = ProfileManager({"mine": profile})
    assert manager.get("mine") is profile
    assert manager.get(profile) is profile


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'theirs'; valid profiles are .*'mine'"):
        ProfileManager({"mine": ExecutionProfile()}).get("theirs")


def test_a_name_is_taken_once():
    manager = ProfileManager()
    manager.add("mine", ExecutionProfile())
    with pytest.raises(ValueError, match="already exists"):
        manager.add("mine", ExecutionProfile())


def test_only_profiles_are_added():
    with pytest.raises(TypeError, match="an ExecutionProfile is needed"):
        ProfileManager().add("mine", object())


def test_whoever_configures_in_the_older_way_gets_no_profiles():
    manager = ProfileManager(mode=ConfigMode.LEGACY)
    with pytest.raises(ValueError, match="without execution profiles"):
        manager.add("mine", ExecutionProfile())


def test_whoever_uses_profiles_cannot_go_back():
    manager = ProfileManager()
    manager.add("mine", ExecutionProfile())
    with pytest.raises(ValueError, match=r"Session\.row_factory cannot be set"):
        manager.commit_to_legacy("Session.row_factory")


def test_a_clone_differs_in_what_is_named_and_leaves_the_original_alone():
    profile = ExecutionProfile(request_timeout=5)
    clone = profile.clone_update(consistency_level=ConsistencyLevel.QUORUM)
    assert clone.consistency_level == ConsistencyLevel.QUORUM
    assert clone.request_timeout == 5
    assert clone.load_balancing_policy is profile.load_balancing_policy
    assert profile.consistency_level == ConsistencyLevel.LOCAL_ONE


def test_a_clone_has_no_attributes_that_a_profile_has_not():
    with pytest.raises(AttributeError, match="request_timout"):
        ExecutionProfile().clone_update(request_timout=3)


def test_a_serial_consistency_level_is_a_serial_one():
    with pytest.raises(ValueError, match="no serial consistency level"):
        ExecutionProfile(serial_consistency_level=ConsistencyLevel.QUORUM)


@pytest.mark.parametrize(
    ("distances", "nearest"),
    [
        ([HostDistance.IGNORED, HostDistance.IGNORED], HostDistance.IGNORED),
        ([HostDistance.IGNORED, HostDistance.REMOTE], HostDistance.REMOTE),
        ([HostDistance.REMOTE, HostDistance.LOCAL], HostDistance.LOCAL),
    ],
)
def test_a_host_is_as_near_as_the_nearest_profile_says(distances, nearest):
    names = [EXEC_PROFILE_DEFAULT, "other"]
    manager = ProfileManager(
        {
            name: ExecutionProfile(Recorder(distance))
            for name, distance in zip(names, distances, strict=True)
        }
    )
    assert manager.distance(Host("127.0.0.1")) == nearest


def test_a_policy_of_two_profiles_hears_of_a_host_once():
    shared, own = Recorder(), Recorder()
    manager = ProfileManager(
        {
            EXEC_PROFILE_DEFAULT: ExecutionProfile(shared),
            "a": ExecutionProfile(shared),
            "b": ExecutionProfile(own),
        }
    )
    host = Host("127.0.0.1")
    manager.tell("on_add", host)
    manager.tell("on_down", host)
    manager.tell("on_up", host)
    manager.tell("on_remove", host)
    told = [("add", host), ("down", host), ("up", host), ("remove", host)]
    assert shared.heard == told
    assert own.heard == told


def test_the_name_of_the_default_profile_prints_as_what_it_is():
    assert repr(EXEC_PROFILE_DEFAULT) == "EXEC_PROFILE_DEFAULT"


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("load_balancing_policy", RoundRobinPolicy, "an instance of RoundRobinPolicy, not <class"),
        ("retry_policy", RetryPolicy, "an instance of RetryPolicy, not <class"),
        ("speculative_execution_policy", NoSpeculativeExecutionPolicy, "an instance of NoSpec"),
        ("consistency_level", "ONE", "a ConsistencyLevel, not 'ONE'"),
        ("serial_consistency_level", "SERIAL", "a ConsistencyLevel, not 'SERIAL'"),
        ("request_timeout", "5", "a number, not '5'"),
    ],
)
def test_what_an_option_of_a_profile_cannot_be_is_refused_at_once(option, value, told):
    with pytest.raises(TypeError, match=f"^{option} is {told}"):
        ExecutionProfile(**{option: value})
    with pytest.raises(TypeError, match=f"^{option} is {told}"):
        setattr(ExecutionProfile(), option, value)
    with pytest.raises(TypeError, match=f"^{option} is {told}"):
        ExecutionProfile().clone_update(**{option: value})


def test_a_request_of_a_profile_takes_no_negative_time():
    with pytest.raises(ValueError, match="request_timeout must not be negative"):
        ExecutionProfile(request_timeout=-0.5)
