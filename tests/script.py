"""Sessions over scripted hosts: what each host answers, in turn, and what it was asked."""

import struct

import answers
from in_memory import InMemorySession

from driver.results import tuple_factory
from driver.types import Int32Type

NUMBER = [("n", Int32Type)]

#: ERRORs by what they are called in tests; the numbers are replicas, consistency QUORUM.
UNAVAILABLE = answers.error(0x1000, "few", struct.pack(">Hii", 4, 2, 1))
OVERLOADED = answers.error(0x1001, "busy")
BOOTSTRAPPING = answers.error(0x1002, "joining")
TRUNCATE = answers.error(0x1003, "truncate")
SERVER_ERROR = answers.error(0x0000, "bug")
READ_TIMEOUT_WITHOUT_DATA = answers.error(0x1200, "slow", struct.pack(">Hiib", 4, 2, 2, 0))
READ_TIMEOUT = answers.error(0x1200, "slow", struct.pack(">Hiib", 4, 1, 2, 0))
INVALID = answers.error(0x2200, "no such table")
UNAUTHORIZED = answers.error(0x2100, "not you")


def write_timeout(kind):
    """A write timeout of a kind of write."""
    name = kind.encode()
    return answers.error(0x1100, "slow", struct.pack(">Hiih", 4, 1, 2, len(name)) + name)


def row(number):
    """One row with one number: which host answered."""
    return answers.rows(NUMBER, [(number,)])


class Host:
    """Gives answers in turn, then none; remembers what it was asked and has not answered."""

    def __init__(self, *given):
        self.left = list(given)
        self.requests = []
        self.unanswered = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.left.pop(0) if self.left else None
        if answer is None:
            self.unanswered.append(request)
        return answer


def session_of(*hosts, **options):
    """A session of hosts, each a list of answers; rows are tuples."""
    scripts = {f"127.0.0.{number}": Host(*given) for number, given in enumerate(hosts, 1)}
    session = InMemorySession(hosts=scripts, row_factory=tuple_factory, **options)
    session.scripts = dict(zip(session.hosts, scripts.values(), strict=True))
    return session


def respond(session, number, answer):
    """Let a host (counted from 0) answer its oldest request without an answer."""
    host = session.hosts[number]
    session.respond(host, session.scripts[host].unanswered.pop(0), answer)


def asked(session):
    """How many requests each host got."""
    return [len(script.requests) for script in session.scripts.values()]


def leftovers(session):
    """What a request that ended must not leave behind: borrowed connections, waiting streams and
    timers. Orphaned streams are not counted: they wait for the server.
    """
    return {
        "borrowed": sum(pool.borrowed for pool in session.pools.values()),
        "waiting": sum(len(pool.connection._requests) for pool in session.pools.values()),
        "timers": session.timers.pending,
    }


NOTHING_LEFT = {"borrowed": 0, "waiting": 0, "timers": 0}
