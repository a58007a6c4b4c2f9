"""The programs that a ring needs, and the server from Maven Central."""

from __future__ import annotations

import shutil
import subprocess

from .failure import Failure
from .java import java
from .place import FETCH_SECONDS, JARS, say
from .releases import RELEASE

DEPENDENCY = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId>
    <version>{}</version>{}</dependency>"""
#: A jar that brings what it needs along.
SHADED = """<classifier>{}</classifier><exclusions><exclusion>
    <groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>cqlpath</groupId><artifactId>server</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>{dependencies}</dependencies>
</project>
"""
COPY_JARS = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def maven() -> str:
    """Path of Maven, which downloads."""
    found = shutil.which("mvn")
    if not found:
        raise Failure("mvn not found: install Maven, which downloads the server")
    return found


def _pom() -> str:
    """What Maven reads: the parts of the release."""
    parts = [
        DEPENDENCY.format("org.apache.cassandra", name, RELEASE.version, "")
        for name in RELEASE.modules
    ]
    for other in RELEASE.others:
        *names, classifier = other.split(":")
        parts.append(DEPENDENCY.format(*names, SHADED.format(classifier)))
    return POM.format(dependencies="".join(parts))


def check() -> None:
    """Raise Failure with what is missing to start a server, before anything takes time."""
    java()
    if not JARS.is_dir():
        maven()


def fetch() -> None:
    """Put the server's jars into JARS; a partial download is never mistaken for a whole one."""
    if JARS.is_dir():
        return
    partial = JARS.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    (partial / "pom.xml").write_text(_pom(), encoding="utf-8")
    say(f"fetching Cassandra {RELEASE.version} (30 to 70 MB) ...")
    command = [maven(), "-q", "-B", "--strict-checksums", "-f", str(partial / "pom.xml")]
    command += [COPY_JARS, "-DincludeScope=runtime", f"-DoutputDirectory={partial}"]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=FETCH_SECONDS,
        check=False,
    )
    if done.returncode or not (partial / f"cassandra-all-{RELEASE.version}.jar").exists():
        raise Failure(f"Maven failed ({done.returncode}):\n{(done.stdout + done.stderr)[-3000:]}")
    partial.rename(JARS)
