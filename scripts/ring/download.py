"""The programs that a ring needs, and the server from Maven Central."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from .place import FETCH_SECONDS, JARS, VERSION, Failure, say

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>cqlpath</groupId><artifactId>server</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>org.apache.cassandra</groupId>
    <artifactId>cassandra-all</artifactId><version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
#: The releases of Java that the server's packages are opened for.
JAVA = "17"


def tool(name: str) -> str:
    """Path of a program, from JAVA_HOME or PATH."""
    beside_java = Path(os.environ.get("JAVA_HOME", "/nowhere"), "bin", name)
    found = str(beside_java) if beside_java.exists() else shutil.which(name)
    if not found:
        raise Failure(f"{name} not found: install a JDK {JAVA} and Maven")
    return found


def java() -> str:
    """Path of a Java that the server starts on."""
    path = tool("java")
    told = subprocess.run(
        [path, "-version"], capture_output=True, text=True, timeout=60, check=False
    ).stderr
    version = re.search(r'version "(\d+)', told)
    if version is None or version[1] != JAVA:
        raise Failure(f"{path} is not Java {JAVA}: {' '.join(told.split())[:80]}")
    return path


def check() -> None:
    """Raise Failure with what is missing to start a server, before anything takes time."""
    java()
    if not JARS.is_dir():
        tool("mvn")


def fetch() -> None:
    """Put the server's jars into JARS; a partial download is never mistaken for a whole one."""
    if JARS.is_dir():
        return
    partial = JARS.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    (partial / "pom.xml").write_text(POM, encoding="utf-8")
    say(f"fetching Cassandra {VERSION} (about 70 MB) ...")
    command = [tool("mvn"), "-q", "-B", "--strict-checksums", "-f", str(partial / "pom.xml")]
    command += [COPY_JARS, "-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode or not (partial / f"cassandra-all-{VERSION}.jar").exists():
        raise Failure(f"Maven failed ({done.returncode}):\n{(done.stdout + done.stderr)[-3000:]}")
    partial.rename(JARS)
