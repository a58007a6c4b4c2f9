"""scripts/cassandra says in one line what it cannot do; no server is started here."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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


def test_a_machine_without_java_is_told_what_to_install(complains):
    said = complains("check", PATH="", JAVA_HOME="")
    assert said == "cassandra: java not found: install a JDK 17 and Maven\n"


def test_another_java_than_the_servers_is_refused(complains, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.1\" 2023-10-17' >&2\n")
    java.chmod(0o755)
    said = complains("check", JAVA_HOME=str(tmp_path))
    assert said.startswith(f"cassandra: {java} is not Java 17: openjdk version")


def test_a_machine_without_maven_can_only_use_what_was_downloaded(complains, tmp_path):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    java.chmod(0o755)
    missing = str(tmp_path / "jars")
    said = complains("check", PATH="/bin-nowhere", JAVA_HOME=str(tmp_path), CASSANDRA_JARS=missing)
    assert said == "cassandra: mvn not found: install a JDK 17 and Maven\n"


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
