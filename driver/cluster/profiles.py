"""Execution profiles: how requests are balanced, retried, timed and shaped, under a name.

A cluster is configured in one of two ways, and not in both: by execution profiles, or by the older
arguments (``load_balancing_policy``, ``default_retry_policy``) and attributes of each session
(``default_timeout``, ``row_factory``...). In the older way each session has a default profile of
its own, and its attributes are those of that profile.
"""

from __future__ import annotations

import copy
import threading
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from ..execution.options import Options
from ..policies.distance import HostDistance
from ..policies.load_balancing import DCAwareRoundRobinPolicy, TokenAwarePolicy
from ..policies.retry import RetryPolicy
from ..policies.speculative import NoSpeculativeExecutionPolicy
from ..protocol.consistency import ConsistencyLevel
from ..protocol.numbers import refuse_negative
from ..results.rows import named_tuple_factory
from .forwarded import Forwarded

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from ..policies.load_balancing import LoadBalancingPolicy
    from ..policies.speculative import SpeculativeExecutionPolicy
    from ..results.rows import RowFactory
    from ..topology.host import Host
    from .options import ClusterOptions


class _DefaultProfile(Enum):
    """The class of ``EXEC_PROFILE_DEFAULT``."""

    EXEC_PROFILE_DEFAULT = "default"

    #: Each request looks its profile up by this; an enumeration's own is a function in Python.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """The public name."""
        return self.name


class _NotSet(Enum):
    """The class of ``NOT_SET``."""

    NOT_SET = "not set"

    def __repr__(self) -> str:
        """The public name."""
        return self.name


_Value = TypeVar("_Value")
_SETTING: Final = threading.Lock()

#: The name of the profile that is used where none is named.
EXEC_PROFILE_DEFAULT: Final = _DefaultProfile.EXEC_PROFILE_DEFAULT
#: An argument that was not given, where None means something else.
NOT_SET: Final = _NotSet.NOT_SET

NotSet: TypeAlias = Literal[_NotSet.NOT_SET]


def default_lbp_factory() -> LoadBalancingPolicy:
    """The policy where none is given: replicas first, in the datacenter of the contact points."""
    return TokenAwarePolicy(DCAwareRoundRobinPolicy())


#: What is no option of a profile, by its class, and what is.
_MISTAKEN: Final[Mapping[str, tuple[type, str]]] = {
    **dict.fromkeys(
        ("load_balancing_policy", "retry_policy", "speculative_execution_policy"),
        (type, "an instance of {0.__name__}"),
    ),
    **dict.fromkeys(("consistency_level", "serial_consistency_level"), (str, "a ConsistencyLevel")),
}


def _check(name: str, value: Any) -> None:  # noqa: ANN401  (it may be anything)
    """Refuse what an option of a profile cannot be."""
    if name in _MISTAKEN and isinstance(value, _MISTAKEN[name][0]):
        raise TypeError(f"{name} is {_MISTAKEN[name][1].format(value)}, not {value!r}")
    if value is None or value is NOT_SET:
        return
    if name == "request_timeout":
        refuse_negative(name, value)
    elif name == "serial_consistency_level" and not ConsistencyLevel.is_serial(value):
        raise ValueError(
            f"{value} is no serial consistency level: there are SERIAL and LOCAL_SERIAL"
        )


class _OfOptions(Forwarded[_Value]):
    """An option of a profile; setting it replaces the options, whole."""

    _path = "options"

    def __set__(self, profile: ExecutionProfile, value: _Value) -> None:
        _check(self._name, value)
        change: dict[str, Any] = {self._attribute: value}
        with _SETTING:  # or another thread's change of another option could be lost
            profile.options = profile.options._replace(**change)


class ExecutionProfile:
    """How the requests that name it are executed.

    Attributes:
        options: what follows, as requests take it over.
        load_balancing_policy: which hosts, in which order.
        retry_policy: what becomes of errors of the server; statements may have their own.
        consistency_level: where a statement has none.
        serial_consistency_level: where a statement has none; None leaves it to the server.
        request_timeout: seconds until the client gives up; None waits for ever.
        row_factory: shape of rows.
        speculative_execution_policy: when an idempotent request goes to a second host.
    """

    __slots__ = ("__dict__", "__weakref__", "options")

    load_balancing_policy: _OfOptions[LoadBalancingPolicy] = _OfOptions()
    retry_policy: _OfOptions[RetryPolicy] = _OfOptions()
    consistency_level: _OfOptions[int] = _OfOptions()
    serial_consistency_level: _OfOptions[int | None] = _OfOptions()
    request_timeout: _OfOptions[float | None] = _OfOptions("timeout")
    row_factory: _OfOptions[RowFactory[object]] = _OfOptions()
    speculative_execution_policy: _OfOptions[SpeculativeExecutionPolicy] = _OfOptions()

    def __init__(
        self,
        load_balancing_policy: LoadBalancingPolicy | NotSet = NOT_SET,
        retry_policy: RetryPolicy | None = None,
        consistency_level: int | NotSet = NOT_SET,
        serial_consistency_level: int | None = None,
        request_timeout: float | None = 10.0,
        row_factory: RowFactory[object] = named_tuple_factory,
        speculative_execution_policy: SpeculativeExecutionPolicy | None = None,
    ) -> None:
        """Set what differs from the defaults.

        Raises:
            TypeError: the class of a policy in place of one, or a text in place of a number.
            ValueError: the serial consistency level is not a serial one, or the time negative.
        """
        given = {
            "load_balancing_policy": load_balancing_policy,
            "retry_policy": retry_policy,
            "speculative_execution_policy": speculative_execution_policy,
            "consistency_level": consistency_level,
            "serial_consistency_level": serial_consistency_level,
            "request_timeout": request_timeout,
        }
        for name, value in given.items():
            _check(name, value)
        self.options = Options(
            ConsistencyLevel.LOCAL_ONE if consistency_level is NOT_SET else consistency_level,
            serial_consistency_level,
            timeout=request_timeout,
            row_factory=row_factory,
            load_balancing_policy=(
                default_lbp_factory() if load_balancing_policy is NOT_SET else load_balancing_policy
            ),
            retry_policy=retry_policy or RetryPolicy(),
            speculative_execution_policy=(
                speculative_execution_policy or NoSpeculativeExecutionPolicy()
            ),
        )

    def clone_update(self, **changes: object) -> ExecutionProfile:
        """A copy with other attributes; policies are shared with this one.

        Raises:
            AttributeError: a profile has no such attribute.
        """
        clone = copy.copy(self)
        for name, value in changes.items():
            if not hasattr(clone, name):
                raise AttributeError(f"an ExecutionProfile has no {name!r}")
            setattr(clone, name, value)
        return clone


class ConfigMode(Enum):
    """The two ways to configure, and the state before either was chosen."""

    UNCOMMITTED = 0
    LEGACY = 1
    PROFILES = 2


#: A profile, or the name under which the cluster knows it.
ProfileOrName: TypeAlias = "ExecutionProfile | Hashable"


class ProfileManager:
    """The profiles of a cluster by name; their load balancing policies are told of hosts.

    Attributes:
        profiles: by name; the default is always there.
        mode: how the cluster is configured.
    """

    __slots__ = ("__dict__", "__weakref__", "mode", "profiles")

    def __init__(
        self,
        profiles: Mapping[Hashable, ExecutionProfile] | None = None,
        mode: ConfigMode = ConfigMode.UNCOMMITTED,
    ) -> None:
        """Take profiles over; without a default one, there is one of defaults."""
        self.profiles: dict[Hashable, ExecutionProfile] = dict(profiles or {})
        self.mode = mode
        if EXEC_PROFILE_DEFAULT not in self.profiles:
            self.profiles[EXEC_PROFILE_DEFAULT] = ExecutionProfile()

    @classmethod
    def from_options(cls, options: ClusterOptions) -> ProfileManager:
        """The profiles that options ask for, in whichever of the two ways."""
        if options.execution_profiles is not None:
            return cls(options.execution_profiles, ConfigMode.PROFILES)
        lbp, retry = options.load_balancing_policy, options.default_retry_policy
        is_legacy = lbp is not None or retry is not None
        default = ExecutionProfile(NOT_SET if lbp is None else lbp, retry)
        mode = ConfigMode.LEGACY if is_legacy else ConfigMode.UNCOMMITTED
        return cls({EXEC_PROFILE_DEFAULT: default}, mode)

    @property
    def default(self) -> ExecutionProfile:
        """The profile that is used where none is named."""
        return self.profiles[EXEC_PROFILE_DEFAULT]

    def get(self, profile: ProfileOrName) -> ExecutionProfile:
        """The profile of a name; a profile is taken as it is.

        Raises:
            ValueError: there is none of that name.
        """
        if isinstance(profile, ExecutionProfile):
            return profile
        try:
            return self.profiles[profile]
        except KeyError:
            raise ValueError(
                f"Invalid execution_profile: {profile!r}; valid profiles are {list(self.profiles)}"
            ) from None

    def add(self, name: Hashable, profile: ExecutionProfile) -> None:
        """Add a profile; arguments as of ``check_new``."""
        self.check_new(name, profile)
        self.mode = ConfigMode.PROFILES
        self.profiles = {**self.profiles, name: profile}

    def check_new(self, name: Hashable, profile: ExecutionProfile) -> None:
        """Refuse what cannot be added.

        Raises:
            TypeError: it is no profile.
            ValueError: the name is taken, or the cluster is configured without profiles.
        """
        if not isinstance(profile, ExecutionProfile):
            raise TypeError(f"an ExecutionProfile is needed, not {profile!r}")
        if self.mode is ConfigMode.LEGACY:
            raise ValueError(
                "the cluster is configured without execution profiles: none can be added"
            )
        if name in self.profiles:
            raise ValueError(f"Profile {name!r} already exists")

    def commit_to_legacy(self, what: str) -> None:
        """Choose the older way, because an attribute of it is set.

        Raises:
            ValueError: profiles were chosen before.
        """
        if self.mode is ConfigMode.PROFILES:
            raise ValueError(
                f"{what} cannot be set: the cluster is configured by execution profiles, of which "
                "each has its own"
            )
        self.mode = ConfigMode.LEGACY

    # --- the load balancing policies, together -------------------------------------------------

    def _policies(self) -> Iterable[LoadBalancingPolicy]:
        """Each policy once, also if profiles share it."""
        policies = [profile.load_balancing_policy for profile in self.profiles.values()]
        return {id(policy): policy for policy in policies}.values()

    def distance(self, host: Host) -> int:
        """The nearest distance that any policy gives a host."""
        distances = {policy.distance(host) for policy in self._policies()}
        for near in (HostDistance.LOCAL, HostDistance.REMOTE):
            if near in distances:
                return near
        return HostDistance.IGNORED

    def tell(self, what: str, *given: object) -> None:
        """Call a method of each policy, such as ``on_up`` with a host."""
        for policy in self._policies():
            getattr(policy, what)(*given)
