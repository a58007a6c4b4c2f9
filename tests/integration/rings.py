"""The kinds of Cassandra that tests run against; at most one ring of them runs at a time.

Each kind is a line of `KINDS`. Tests ask for one by its fixture, are sorted by kind, and so each
ring is started once. `scripts/cassandra` does the work, on a folder of the tests' own.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "cassandra"
sys.path.append(str(SCRIPT.parent))  # where pytest did not: load.py and fault_run.py by themselves

from ring.releases import RELEASE  # noqa: E402  (found by that)

#: Beside the ring that a person may have started by hand.
FOLDER = Path(os.environ.get("CASSANDRA_FOLDER") or ROOT / ".cassandra" / "tests")
PREFIX = os.environ.get("CASSANDRA_PREFIX") or "127.0.0."
PORT = 9042
FETCHES_WITHIN, ENDS_WITHIN = 960, 180  # seconds; the script gives up by itself before

#: No snapshot of what a test drops; nodes that drop out are missed within ten seconds.
COMMON = ("--set", "auto_snapshot=false", "--phi", "5")
#: Sends the payload of a request back, so that a response has one. It is part of the server.
MIRROR = "org.apache.cassandra.cql3.CustomPayloadMirroringQueryHandler"
KINDS = {
    "one": (1, "--property", f"cassandra.custom_query_handler_class={MIRROR}"),
    "guarded": (1, "--auth", "--tls", "{certificates}/nodes.pem"),
    "mutual": (1, "--tls", "{certificates}/nodes.pem", "--mtls", "{certificates}/authority.pem"),
    # The folder is made by the tests of it.
    "kerberos": (
        *(1, "--auth", "--set", "authenticator=Kerberos"),
        *("--classes", "{certificates}/kerberos/classes"),
        *("--property", "java.security.krb5.conf={certificates}/kerberos/krb5.conf"),
        *("--property", "java.security.auth.login.config={certificates}/kerberos/login.conf"),
        *("--property", "javax.security.auth.useSubjectCredsOnly=false"),
    ),
    "three": (3,),
    "regions": (3, "--dcs", "east,east,west", "--racks", "r1,r2,r1"),
}
#: The fixture of each kind, in the order in which they are run.
FIXTURES = {
    "one_node": "one",
    "guarded_node": "guarded",
    "mutual_node": "mutual",
    "kerberos_node": "kerberos",
    "three_nodes": "three",
    "two_regions": "regions",
}
#: Versions of the protocol, as parameters of tests.
V5 = pytest.param(5, marks=pytest.mark.since("4.0", "protocol v5"))
VERSIONS = [3, 4, V5]


def numbers(release: str) -> list[int]:
    """The parts of a release's number, which order releases."""
    return [int(part) for part in release.split(".")]


def lacks(release: str, what: str) -> str:
    """That the server does not have something yet; empty if it does."""
    if numbers(RELEASE.version) >= numbers(release):
        return ""
    return f"Cassandra {RELEASE.version} has no {what}; {release} has"


class CannotStart(Exception):  # noqa: N818  (not an error of what is tested)
    """There is no ring, and why."""


def script(*arguments: object, within: float = ENDS_WITHIN) -> str:
    """What scripts/cassandra prints; CannotStart with what it complains about."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=within,
        check=False,
        env={**os.environ, "CASSANDRA_FOLDER": str(FOLDER), "CASSANDRA_PREFIX": PREFIX},
    )
    if done.returncode > 1:
        complaint = done.stderr.strip().removeprefix("cassandra: ")
        raise CannotStart(f"scripts/cassandra {arguments[0]}: {complaint}")
    return done.stdout


@dataclass
class Ring:
    """Nodes that run, and what can be done to one of them."""

    kind: str
    whole: bool = True

    @property
    def addresses(self) -> list[str]:
        return [f"{PREFIX}{index}" for index in range(1, KINDS[self.kind][0] + 1)]

    def kill(self, index: int) -> None:
        """SIGKILL: sockets are closed by the kernel."""
        self.whole = False
        script("kill", index)

    def restart(self, *indices: int) -> None:
        """Return when the nodes serve clients and all nodes see each other."""
        self.whole = False
        script("restart", *indices)

    def pause(self, index: int) -> None:
        """SIGSTOP: sockets stay open, nothing answers."""
        self.whole = False
        script("pause", index)

    def resume(self, index: int) -> None:
        script("resume", index)

    def heal(self) -> None:
        """Bring back what a test left paused or dead."""
        if self.whole:
            return
        states = list(enumerate(script("status").splitlines(), 1))
        for index, line in states:
            if "(paused)" in line:
                self.resume(index)
        ended = [index for index, line in states if "(ended)" in line]
        if ended:
            self.restart(*ended)
        self.whole = True


class Rings:
    """Starts the kind of ring that is asked for, and ends the one before."""

    def __init__(self, certificates: Path) -> None:
        self.certificates = certificates
        self.running: Ring | None = None
        self.refused: dict[str, str] = {}

    def check(self) -> None:
        """Raise CannotStart if this machine lacks what it takes; downloads the server once."""
        script("check")
        script("fetch", within=FETCHES_WITHIN)

    def use(self, kind: str) -> Ring:
        """The ring of a kind, whole."""
        if self.running is None or self.running.kind != kind:
            self.stop()
            if kind in self.refused:
                raise CannotStart(self.refused[kind])
            options = [str(word).format(certificates=self.certificates) for word in KINDS[kind]]
            try:
                script("start", *options, *COMMON)
            except BaseException as reason:
                self.refused[kind] = str(reason)  # no second test waits as long for the same
                raise
            self.running = Ring(kind)
        self.running.heal()
        return self.running

    def stop(self) -> None:
        """End what runs, and what an interrupted run of the tests left behind."""
        self.running = None
        script("stop", "--now")
