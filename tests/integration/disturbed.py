"""What tests that disturb a ring look at: hosts, connections, errors, a listener."""

import re

from driver.policies import HostStateListener

REQUEST_TIMEOUT = 5.0
#: Seconds until a dead node was noticed by everybody, and a new one is used again.
NOTICED = 60


class Heard(HostStateListener):
    """What a listener heard of hosts."""

    def __init__(self):
        self.events = []

    def on_up(self, host):
        self.events.append(("up", host.address))

    def on_down(self, host):
        self.events.append(("down", host.address))

    def on_add(self, host):
        self.events.append(("add", host.address))

    def on_remove(self, host):
        self.events.append(("remove", host.address))


def connected_to(session):
    """Addresses of the hosts that the session has an open connection to."""
    return {host.address for host, state in session.get_pool_state().items() if state["open_count"]}


def in_flight(session):
    return sum(sum(state["in_flights"]) for state in session.get_pool_state().values())


def control_index(session, addresses):
    """Number of the node that the control connection is with; 0 while there is none."""
    host = session.cluster.get_control_connection_host()
    return 0 if host is None else addresses.index(host.address) + 1


def says_where_and_why(error):
    """Whether an error names a host and a reason; of the server's own, notes tell the host."""
    words = " ".join([str(error), *getattr(error, "__notes__", ())])
    host = re.search(r"127\.\d+\.\d+\.\d+", words)
    return host is not None and len(words) > len(host[0]) + 20
