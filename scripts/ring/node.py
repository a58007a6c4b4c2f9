"""One server process: its folder holds its settings, data, log and process id."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .failure import Failure
from .java import java
from .place import CQL_PORT, FOLDER, GOSSIP_PORT, JARS, address
from .releases import RELEASE

if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable

    from .shape import Shape

LOGBACK = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
"""

# A test server lives for minutes: one collector thread and no optimising compiler start faster.
JVM = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# Shorter waits than production's; no fsync, which survives a killed node but not a power cut.
PROPERTIES = {
    "cassandra-foreground": "yes",
    "cassandra.libjemalloc": "-",
    "cassandra.ring_delay_ms": "2000",
    "cassandra.shutdown_announce_in_ms": "200",
    "cassandra.skip_sync": "true",
    "cassandra.skip_wait_for_gossip_to_settle": "0",
    "java.net.preferIPv4Stack": "true",
}
# A node can be up before it is among the peers, where clients look for it.
PEERS = f"SELECT peer, host_id, data_center, rack, tokens FROM {RELEASE.peers}".encode()
# Where fields_of() has how many threads are left, and when the process started.
THREADS, STARTED = 17, 19
STARTUP, QUERY, NULL = 0x01, 0x07, b"\xff\xff\xff\xff"


def fields_of(pid: int | str) -> list[str]:
    """What /proc says of a process, from its state on (proc_pid_stat(5), field 3)."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot: tells it from a later owner of its id."""
    return fields_of(pid)[STARTED]


def peers_of(address: str) -> bytes:
    """The other nodes that a node knows: the raw rows, by protocol v4.

    Raises:
        OSError: there is no answer.
    """
    startup = struct.pack(">HH11sH5s", 1, 11, b"CQL_VERSION", 5, b"3.0.0")
    query = struct.pack(">i", len(PEERS)) + PEERS + struct.pack(">HB", 1, 0x02)  # no metadata
    with (
        socket.create_connection((address, CQL_PORT), timeout=5) as wire,
        wire.makefile("rb") as answers,
    ):
        rows = b""
        for opcode, body in ((STARTUP, startup), (QUERY, query)):
            wire.sendall(struct.pack(">BBhBI", 4, 0, 0, opcode, len(body)) + body)
            header = answers.read(9)
            if len(header) < 9:
                raise ConnectionError("the connection was closed")
            rows = answers.read(int.from_bytes(header[5:], "big"))
    return rows


class Node:
    """Node number ``index``, from 1."""

    def __init__(self, index: int) -> None:
        """Nothing is started or read yet."""
        self.index = index
        self.address = address(index)
        self.home = FOLDER / f"node{index}"
        self.log = self.home / "system.log"
        self.pid_file = self.home / "pid"

    def pid(self) -> int | None:
        """The id of our live process, or None."""
        return None if (state := self._process()) is None else state[0]

    def is_paused(self) -> bool:
        """Whether the process was stopped by SIGSTOP."""
        return (self._process() or (0, ""))[1] == "T"

    def _process(self) -> tuple[int, str] | None:
        try:
            pid, started = self.pid_file.read_text(encoding="utf-8").split()
            state = fields_of(pid)
        except OSError:
            return None
        # A killed process is a zombie as soon as its first thread is; its files, and with them the
        # ports it listens on, stay open until the last thread is gone.
        ended = state[0] in "ZX" and int(state[THREADS]) <= 1
        return (int(pid), state[0]) if state[STARTED] == started and not ended else None

    def write_settings(self, shape: Shape) -> None:
        """Write cassandra.yaml and its companions."""
        for folder in ("conf", "data", "tmp", "triggers"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        conf = self.home / "conf"
        (conf / "cassandra.yaml").write_text(shape.yaml_of(self.index), encoding="utf-8")
        (conf / "logback.xml").write_text(LOGBACK, encoding="utf-8")
        place = shape.place_of(self.index)
        if place:
            (conf / "rackdc.properties").write_text(place, encoding="utf-8")

    def spawn(self, shape: Shape) -> None:
        """Start the server process in a session of its own and write its id down."""
        for port in (CQL_PORT, GOSSIP_PORT):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((self.address, port))
                except OSError as error:
                    raise Failure(
                        f"cannot listen on {self.address}:{port}: {error.strerror}"
                    ) from None
        conf = self.home / "conf"
        every = {
            **PROPERTIES,
            "cassandra.config": (conf / "cassandra.yaml").as_uri(),
            "cassandra-rackdc.properties": (conf / "rackdc.properties").as_uri(),
            "cassandra.logdir": str(self.home),
            "cassandra.storagedir": str(self.home / "data"),
            "cassandra.triggers_dir": str(self.home / "triggers"),
            "java.io.tmpdir": str(self.home / "tmp"),
            "logback.configurationFile": str(conf / "logback.xml"),
            **shape.properties_of_all(),
        }
        command = [str(java()), *JVM, *RELEASE.options]
        command += [f"-D{key}={value}" for key, value in every.items()]
        command += ["org.apache.cassandra.service.CassandraDaemon"]
        class_path = ":".join(
            [*([shape.classes] if shape.classes else []), *sorted(map(str, JARS.glob("*.jar")))]
        )
        with self.log.open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.home,
                start_new_session=True,
                env={**os.environ, "CLASSPATH": class_path},
            )
        self.pid_file.write_text(f"{process.pid} {start_time(process.pid)}", encoding="utf-8")

    def log_size(self) -> int:
        """How long the log is, in bytes: a mark to read on from."""
        return self.log.stat().st_size if self.log.exists() else 0

    def log_text(self, since: int = 0) -> str:
        """What the server has said since it was started, or since a mark."""
        with self.log.open("rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def sees_up(self, other: Node, since: int) -> bool:
        """Whether the last that the log says of another node, since a mark, is that it is up."""
        # No table of the server tells who is up.
        of_it = rf"/{re.escape(other.address)}(?::{GOSSIP_PORT})? is now (UP|DOWN)"
        return re.findall(of_it, self.log_text(since))[-1:] == ["UP"]

    def does_not_serve(self, shape: Shape, others: Iterable[Node]) -> str:
        """Why clients cannot be served yet, and told of the other nodes; empty when they can."""
        log = self.log_text()
        if "Starting listening for CQL clients" not in log:
            return "does not listen"
        # The first start makes the role that clients log in with; a later one finds it.
        if shape.auth and self.index == 1 and not (self.home / "has role").exists():
            if "Created default superuser role" not in log:
                return "has no roles"
            (self.home / "has role").touch()
        if shape.tls or shape.auth:
            return ""
        try:
            peers = peers_of(self.address)
        except OSError as error:
            return f"does not answer ({error})"
        if NULL in peers:
            return "does not know all of another node yet"
        unknown = [each.address for each in others if socket.inet_aton(each.address) not in peers]
        return f"does not know {unknown}" if unknown else ""

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to our own process, if it lives."""
        pid = self.pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it may end at any moment
                os.kill(pid, number)
