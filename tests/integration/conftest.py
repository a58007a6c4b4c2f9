"""Real Cassandra for tests: started when a test first asks for a ring, ended with the session.

Without the server's Java (and Maven, for the first time) these tests are skipped with the reason;
INTEGRATION=required, which `make integration` sets, makes that a failure. CASSANDRA_VERSION=4.1 or
3.11 runs them against that release; what a release lacks is skipped, and says since which it is.
"""

import contextlib
import faulthandler
import fcntl
import itertools
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.integration import certificates
from tests.integration.disturbed import REQUEST_TIMEOUT
from tests.integration.leaks import Belongings
from tests.integration.rings import FIXTURES, FOLDER, KINDS, PREFIX, CannotStart, Rings, lacks
from tests.integration.writers import TABLE

INSISTS = os.environ.get("INTEGRATION") == "required"
#: Seconds after which a test counts as hanging, unless it is marked `within`; more than a start of
#: a ring may take.
WITHIN = 180
NAMES = itertools.count(1)


def pytest_collection_modifyitems(items):
    """One ring after the other; tests of the same ring stay in their order."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    order = list(FIXTURES)

    def rank(item):
        return min(
            (order.index(name) for name in item.fixturenames if name in FIXTURES), default=-1
        )

    places = sorted(items.index(item) for item in here)
    for place, item in zip(places, sorted(here, key=rank), strict=True):
        items[place] = item
    for item in here:
        for needs in item.iter_markers("since"):
            if reason := lacks(*needs.args):
                item.add_marker(pytest.mark.skip(reason=reason))
    if os.environ.get("DRIVER_IMPL") == "python":
        for item in here:
            if item.get_closest_marker("once"):
                item.add_marker(pytest.mark.skip(reason="runs once, with the compiled modules"))


@pytest.fixture(scope="session")
def rings(tmp_path_factory):
    folder = certificates.make(
        tmp_path_factory.mktemp("certificates"),
        ["127.0.0.1", *(f"{PREFIX}{index}" for index in range(1, 4))],
    )
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pytest.fail(f"another run of these tests uses {FOLDER}")
        every = Rings(folder)
        try:
            every.check()
        except CannotStart as reason:
            if INSISTS:
                pytest.exit(f"no integration tests: {reason}", 2)
            pytest.skip(str(reason))
        # Whoever ends this run by SIGTERM must not find servers left behind.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            yield every
        finally:
            every.stop()
            signal.signal(signal.SIGTERM, before)


def _ring(kind):
    @pytest.fixture(name=next(name for name, value in FIXTURES.items() if value == kind))
    def ring(rings):
        try:
            return rings.use(kind)
        except CannotStart as reason:
            hint = f" (CASSANDRA_PREFIX=127.0.1. takes other addresses than {PREFIX}1)"
            pytest.fail(f"{reason}{hint if 'cannot listen' in str(reason) else ''}")

    return ring


one_node, guarded_node, mutual_node, kerberos_node, three_nodes, two_regions = map(_ring, KINDS)


@pytest.fixture(autouse=True)
def bounded(request):
    """End a test that hangs, with the stacks of all threads."""
    marker = request.node.get_closest_marker("within")
    seconds = marker.args[0] if marker else WITHIN

    def ring_out(*_):
        faulthandler.dump_traceback(file=sys.__stderr__)
        pytest.fail(f"hangs: not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, ring_out)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def belongings(bounded):  # noqa: ARG001  (the alarm outlives the check)
    """Fails at the end of the test if threads or sockets were not given back."""
    before = Belongings()
    yield before
    before.assert_given_back()


@pytest.fixture
def clusters(belongings):  # noqa: ARG001  (checked after the clusters were shut down)
    """Makes clusters that are shut down after the test."""
    from driver.cluster import Cluster

    with contextlib.ExitStack() as stack:

        def make(contact_points, **options):
            cluster = Cluster(contact_points, **options)
            stack.callback(cluster.shutdown)
            return cluster

        yield make


@pytest.fixture
def keyspace_name(request):
    """A name that says which test made it."""
    words = re.sub(r"\W+", "_", request.node.name.removeprefix("test_"))[:30].strip("_")
    return f"k{next(NAMES)}_{words}".lower()


def _session_on(addresses, clusters, keyspace_name, copies):
    session = clusters(addresses).connect()
    session.execute(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        f"{{'class': 'SimpleStrategy', 'replication_factor': {copies}}}"
    )
    session.set_keyspace(keyspace_name)
    yield session
    if not session.is_shutdown:
        session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)


@pytest.fixture
def session(one_node, clusters, keyspace_name):
    """A session on one node, in a keyspace of its own."""
    yield from _session_on(one_node.addresses, clusters, keyspace_name, copies=1)


@pytest.fixture
def session3(three_nodes, clusters, keyspace_name):
    """A session on three nodes, in a keyspace with three copies."""
    yield from _session_on(three_nodes.addresses, clusters, keyspace_name, copies=3)


@pytest.fixture
def loaded(three_nodes, clusters, keyspace_name):
    """A session that reconnects every second, in whose keyspace is the table of `writers`."""
    from driver.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
    from driver.policies import ConstantReconnectionPolicy

    cluster = clusters(
        three_nodes.addresses,
        reconnection_policy=ConstantReconnectionPolicy(1.0, None),
        execution_profiles={
            EXEC_PROFILE_DEFAULT: ExecutionProfile(request_timeout=REQUEST_TIMEOUT)
        },
    )
    session = cluster.connect(wait_for_all_pools=True)
    session.execute(
        f"CREATE KEYSPACE {keyspace_name} WITH replication = "
        "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    )
    session.execute(TABLE.format(f"{keyspace_name}.t"))
    yield session
    three_nodes.heal()
    session.execute(f"DROP KEYSPACE {keyspace_name}", timeout=30)
