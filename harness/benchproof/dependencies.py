"""Packages that a side or its build needs and this environment lacks: installed once, in the cache.

What is installed beside the tool is used as it is where it satisfies what is asked for: it is the
same on both sides. The rest is resolved for both sides at once, so that a ratio comes from no
dependency; only where they contradict each other does each side get its own, and that is said.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import sys
from dataclasses import dataclass
from email.parser import Parser
from typing import TYPE_CHECKING

from filelock import FileLock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from . import files
from .errors import BuildError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .processes import Crew
    from .progress import Teller

_NOTHING = ""


@dataclass(frozen=True)
class Dependencies:
    """Where missing packages are installed, and by whom.

    Attributes:
        cache: the folder of all builds.
        crew: runs pip.
        tell: hears what is installed, if somebody waits for it.
    """

    cache: Path
    crew: Crew
    tell: Teller | None = None

    def provide(self, wanted: Iterable[str]) -> str:
        """A folder for the module search path; "" where nothing is missing.

        Args:
            wanted: requirements, as a project's metadata has them.

        Raises:
            BuildError: pip cannot install them.
        """
        absent = missing(wanted)
        if not absent:
            return _NOTHING
        key = hashlib.sha256("\0".join((sys.version, *absent)).encode()).hexdigest()[:24]
        folder = self.cache / "packages" / key
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not folder.is_dir():
                if self.tell is not None:
                    self.tell.line(f"installing {', '.join(absent)}, for both sides")
                self._install(absent, folder)
        return str(folder)

    def _install(self, wanted: list[str], folder: Path) -> None:
        """Run pip, and move into place as one step."""
        with files.scratch(self.cache) as scratch:
            target = scratch / "packages"
            command = [sys.executable, "-m", "pip", "install", "--target", str(target),
                       "--disable-pip-version-check", "--no-input", "--", *wanted]  # fmt: skip
            # One in the background must not wait for an answer at the terminal.
            env = os.environ | {"GIT_TERMINAL_PROMPT": "0"}
            log = scratch / "log"
            child = self.crew.start(command, log=log, cwd=scratch, env=env)
            ended = self.crew.wait(child)
            if ended.status:
                said = [line for line in ended.last_lines(40) if line.startswith("ERROR")]
                reason = "".join(f"\n  {line.removeprefix('ERROR: ')[:150]}" for line in said[:4])
                raise BuildError(f"pip cannot install {', '.join(wanted)}:{reason}")
            shutil.move(target, folder)


def missing(wanted: Iterable[str]) -> list[str]:
    """Those requirements that this environment does not satisfy, sorted.

    Args:
        wanted: requirements; one for another system or an extra counts as satisfied, one that
            cannot be read as missing: pip says what is wrong with it.
    """
    return sorted({text for text in wanted if not _is_satisfied(text)})


def _is_satisfied(text: str) -> bool:
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        return False
    if not _is_wanted(text):
        return True
    try:
        found = importlib.metadata.version(asked.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    # An extra may ask for more than the package itself: pip knows.
    return not asked.extras and not asked.url and asked.specifier.contains(found, prereleases=True)


def of_wheel(metadata: str) -> tuple[str, ...]:
    """What the METADATA of a wheel requires, for this interpreter and without extras."""
    found = Parser().parsestr(metadata, headersonly=True).get_all("Requires-Dist", [])
    return tuple(text for text in found if _is_wanted(text))


def _is_wanted(text: str) -> bool:
    try:
        marker = Requirement(text).marker
    except InvalidRequirement:
        return True
    return marker is None or marker.evaluate({"extra": ""})


def versions(folder: str) -> dict[str, str]:
    """The packages in a folder, by name."""
    if not folder:
        return {}
    found = importlib.metadata.distributions(path=[folder])
    return {canonicalize_name(each.metadata["Name"]): each.version for each in found}


def differ(left: str, right: str) -> str:
    """In words, which packages two folders have in different versions; "" if none."""
    had, has = versions(left), versions(right)
    words = [
        f"{name} {had.get(name, 'absent')} and {has.get(name, 'absent')}"
        for name in sorted(had.keys() | has.keys())
        if had.get(name) != has.get(name)
    ]
    return ", ".join(words)


def identity(folder: str) -> str:
    """What a folder's packages add to the key of a build."""
    return json.dumps(versions(folder), sort_keys=True) if folder else ""
