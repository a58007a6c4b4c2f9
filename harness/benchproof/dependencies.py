"""What a side or its build needs beside its own files: the same versions for both sides.

A side runs in a virtual environment that holds what it requires and nothing else, made once for
each set of requirements. A build uses what is installed beside the tool, and before that a folder
with what is missing. Either takes the versions that are installed beside the tool where those
satisfy what is asked for, to the last dependency. Both sides are resolved at once, so that a ratio
comes from no dependency. Where they contradict each other each gets its own, alike as far as both
allow.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.parser import Parser
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from . import files
from .errors import BuildError, UnreachedError, few
from .progress import Teller

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .plan import SideName
    from .processes import Crew

_NOTHING = ""
#: What stands behind the name of a package in a requirement.
_NAME_ENDS = re.compile(r"[^\w.-]")
#: In a folder that holds all that it should.
_MADE = "made"
#: In an environment that also has what is installed beside the tool: the file that adds it.
_BESIDE = "beside.pth"
#: What there is to say where an index was not reached.
UNREACHED = (
    "a package index was not reached: connect to the network, or name one that can be reached in "
    "pip's configuration"
)
_PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
#: Settings of pip that say where packages come from, as uv has them.
_OF_UV = {"index-url": "--default-index", "extra-index-url": "--index",
          "find-links": "--find-links", "no-index": "--no-index"}  # fmt: skip
#: Those that change nothing that is installed. With any other one uv is not used.
_OF_PIP = {
    "cache-dir", "cert", "default-timeout", "disable-pip-version-check", "no-cache-dir", "no-input",
    "progress-bar", "quiet", "retries", "root-user-action", "timeout",
}  # fmt: skip


@dataclass(frozen=True)
class Dependencies:
    """Where packages are installed, and by whom.

    Attributes:
        cache: the folder of all builds.
        crew: runs uv or pip.
        tell: hears what is installed, if somebody waits for it.
        whole: whether in virtual environments, with all that is asked for; else folders for the
            module search path have what is missing beside the tool.
        index: whether an index is asked, and not only the folders that pip is told of.
    """

    cache: Path
    crew: Crew
    tell: Teller = field(default_factory=Teller)
    whole: bool = False
    index: bool = True

    def provide(self, wanted: Iterable[str]) -> str:
        """An environment; or a folder, and "" where nothing is missing.

        Args:
            wanted: requirements, as a project's metadata has them.

        Raises:
            BuildError: they cannot be installed.
        """
        asked = sorted({*wanted})
        absent = missing(asked)
        if not (absent or self.whole):
            return _NOTHING
        # What is used as it is installed may not meet another version of what it needs.
        held = versions({*asked} - {*absent})
        pins = [f"{name}=={version}" for name, version in held.items()]
        ways = [(asked if self.whole else absent, pins), *[(asked, [])] * bool(absent)]
        if self.whole and any(map(_is_local, held)):
            ways = []  # an index may have another package of that name
        if self.whole and pins:
            ways.append((absent, [*pins, _BESIDE]))
        made = [way for way in ways if _is_made(str(self._folder(*way)))]
        asking = self
        for way in made[:1] or ways:
            try:
                folder = asking._filled(*way)
            except BuildError as error:
                failed, asking = error, asking._after(error)
                continue
            if _BESIDE in way[1]:
                self.tell.line(
                    "no index gives all that the sides require as it is installed beside "
                    "benchproof, so both see all that is installed there"
                )
            return folder
        raise failed

    def with_imported(
        self, wanted: Mapping[SideName, set[str]], imported: Iterable[str]
    ) -> dict[SideName, set[str]]:
        """What sides want, and what their benchmarks import though neither side names it."""
        known = {named(each) for texts in wanted.values() for each in texts}
        more = {each for each in imported if named(each) not in known}
        if more and wanted:
            self.tell.line(
                f"the benchmarks import {few(sorted(more))}, which nothing declares: added as "
                "installed beside benchproof"
            )
        return {side: texts | more for side, texts in wanted.items()}

    def path(self, folder: str) -> list[str]:
        """Where packages are found beside what `provide` gives, and in it."""
        if not self.whole:
            return [*filter(None, [folder]), *sys.path]
        place = site_packages(folder)
        return [place, *(sys.path if Path(place, _BESIDE).exists() else ())]

    def _after(self, error: BuildError) -> Dependencies:
        """Who goes on after an error: where an index was not reached, one who asks none."""
        return replace(self, index=False) if isinstance(error, UnreachedError) else self

    def _folder(self, texts: Sequence[str], pins: Sequence[str] = ()) -> Path:
        """Where packages are installed, of this interpreter."""
        about = [sys.version, sys.base_prefix] if self.whole else [sys.version]
        more = beside() if _BESIDE in pins else []
        return self.cache / "packages" / _key(*about, texts, pins, *more)

    def together(self, wanted: Mapping[SideName, Iterable[str]]) -> dict[SideName, str]:
        """Folders for both sides: one, or, where they exclude each other, the most alike ones.

        Raises:
            BuildError: what one side wants cannot be installed.
        """
        asked = {side: {*texts} for side, texts in wanted.items()}
        every = set().union(*asked.values())
        listed = {side: sorted(texts) for side, texts in asked.items()}
        about = [sys.version, sys.base_prefix, self.whole, listed, versions(every)]
        memo = self.cache / f"packages/{_key(*about)}.json"
        kept = files.contents(memo)
        if kept and all(map(_is_made, kept.values())):
            return {side: kept[side] for side in asked}
        try:
            return dict.fromkeys(asked, self.provide(every))
        except BuildError as error:
            asking = self._after(error)
            found = {side: asking.provide(texts) for side, texts in asked.items()}
        for here, there in ((here, there) for here in asked for there in asked if here != there):
            for name, version in versions(asked[there], self.path(found[there])).items():
                held = versions(asked[here], self.path(found[here]))
                if held.get(name, version) != version:
                    with suppress(BuildError):  # this side does not allow it
                        alike = {*asked[here], f"{name}=={version}"}
                        found[here] = asking.provide(alike)
                        asked[here] = alike
        if len({str(versions(asked[side], self.path(found[side]))) for side in asked}) > 1:
            files.write(json.dumps(found), memo)  # else it was no conflict, and may end
        return found

    def _filled(self, texts: Sequence[str], pins: Sequence[str] = ()) -> str:
        """A folder or an environment with packages, made as one step if it is not there."""
        folder = self._folder(texts, pins)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_suffix(".lock")):
            if not _is_made(str(folder)):
                shutil.rmtree(folder, ignore_errors=True)
                # In its place: programs and byte code name the folder in which they were made.
                self._fill(folder, texts, pins)
                (folder / _MADE).touch()
        return str(folder)

    def _fill(self, folder: Path, texts: Sequence[str], pins: Sequence[str]) -> None:
        """Make it; what is left of it where that fails is removed by who comes next."""
        # Upgrade: where uv failed in the middle, pip must not keep what it left.
        python, options = sys.executable, ["--upgrade", "--target", str(folder)]
        if self.whole:
            try:
                venv.create(folder, symlinks=True)
            except OSError as error:
                raise BuildError(f"no virtual environment can be made: {error}") from error
            python, options = program(str(folder)), []
        folder.mkdir(exist_ok=True)
        if _BESIDE in pins:
            lines = [f"import site; site.addsitedir({each!r})\n" for each in beside()]
            Path(site_packages(str(folder)), _BESIDE).write_text("".join(lines), encoding="utf-8")
        if texts:
            if words := _told(texts):
                self.tell.line(f"installing {words}")
            with files.scratch(self.cache) as scratch:
                limits = scratch / "pins"
                limits.write_text("\n".join({*pins} - {_BESIDE}), encoding="utf-8")
                self.install(texts, scratch, *options, "--constraint", str(limits), python=python)

    def install(
        self, texts: Sequence[str], scratch: Path, *options: str, python: str = sys.executable
    ) -> None:
        """Install packages by uv where it is there, else, or where it fails, by pip.

        Args:
            texts: requirements.
            scratch: for the log.
            options: that both know.
            python: for which interpreter.

        Raises:
            UnreachedError: that fails, as an index was not reached.
            BuildError: that fails otherwise.
        """
        # One in the background must not wait for an answer at the terminal.
        env = os.environ | {"GIT_TERMINAL_PROMPT": "0", "PIP_USER": "false"}
        log = scratch / "log"
        # Another interpreter's environment may have what uv left in the middle.
        elsewhere = ["--python", python] * (python != sys.executable)
        by_pip = [*_PIP, *elsewhere, "install", "--no-input"]
        by_pip += ["--force-reinstall"] * bool(elsewhere)
        by_uv = uv("pip", "install", "--python", python, "--compile-bytecode")
        for command in filter(None, (by_uv, by_pip)):
            words = [*command, *["--no-index"] * (not self.index), *options, "--", *texts]
            ended = self.crew.wait(self.crew.start(words, log=log, cwd=scratch, env=env))
            if not ended.status:
                return
        said = ended.last_lines(40)
        if not self.index or is_unreached(said):
            raise UnreachedError(f"pip cannot install {_told(texts)}: {UNREACHED}")
        said = [line for line in said if line.startswith("ERROR")]
        reason = "".join(f"\n  {line.removeprefix('ERROR: ')[:150]}" for line in said[:4])
        raise BuildError(f"pip cannot install {_told(texts)}:{reason}")


def _told(texts: Iterable[str]) -> str:
    """Some requirements for a person: those that hold here, without the markers that say so."""
    found = []
    for text in texts:
        try:
            asked = Requirement(text)
        except InvalidRequirement:
            found.append(text)
            continue
        if asked.marker is None or asked.marker.evaluate({"extra": ""}):
            asked.marker = None
            found.append(str(asked))
    return few(found)


def is_unreached(said: Iterable[str]) -> bool:
    """Whether pip, by the lines that it wrote, tried in vain to reach an index to the last."""
    return any("Retry(total=0," in line for line in said)


def named(requirement: str) -> str:
    """The name of the package that a requirement begins with, in its one spelling."""
    return canonicalize_name(_NAME_ENDS.split(requirement)[0])


def beside() -> list[str]:
    """Where the packages are that are installed beside the tool."""
    return [each for each in sys.path if Path(each).name in {"dist-packages", "site-packages"}]


def _is_local(name: str) -> bool:
    """Whether what is installed beside the tool comes from a folder or an address, not an index."""
    found = _installed(name, sys.path)
    return found is not None and bool(found.read_text("direct_url.json"))


def _installed(name: str, path: list[str]) -> importlib.metadata.Distribution | None:
    """A package as it is installed in the first of these folders that has it."""
    context = importlib.metadata.DistributionFinder.Context(name=name, path=path)
    return next(iter(importlib.metadata.MetadataPathFinder.find_distributions(context)), None)


def program(folder: str) -> str:
    """The interpreter of an environment."""
    return f"{folder}/bin/python"


def site_packages(folder: str) -> str:
    """Where an environment has its packages."""
    names = {"base": folder, "platbase": folder}
    return sysconfig.get_path("purelib", "venv", names)


def _is_made(folder: str) -> bool:
    """Whether a folder of packages was filled to the end; "" needs none."""
    return not folder or Path(folder, _MADE).exists()


def uv(*words: str) -> list[str]:
    """A command of uv that takes packages from where pip does; none where there is no such uv."""
    places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    program = shutil.which("uv", path=places)
    if program is None:
        return []
    asked = [*_PIP, "config", "list"]
    configured = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    command = [program, *words]
    for line in configured.stdout.splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if key in _OF_UV:
            given = str(ast.literal_eval(value)).split()
            command += [_OF_UV[key]] if key == "no-index" else [
                word for each in given for word in (_OF_UV[key], each)
            ]  # fmt: skip
        elif key not in _OF_PIP:
            return []
    return command


def missing(wanted: Iterable[str]) -> list[str]:
    """Those requirements that this environment does not satisfy, sorted.

    Args:
        wanted: requirements; one for another system or an extra counts as satisfied, one that
            cannot be read as missing: pip says what is wrong with it.
    """
    known: dict[tuple[str, str], bool] = {}
    return sorted({text for text in wanted if not _is_satisfied(text, sys.path, known, {})})


def versions(wanted: Iterable[str], path: Sequence[str] | None = None) -> dict[str, str]:
    """What requirements lead to, to the last dependency: versions by name, as they are installed.

    Args:
        wanted: requirements.
        path: folders with installed packages; without one, those of the tool.
    """
    found: dict[str, str] = {}
    known: dict[tuple[str, str], bool] = {}
    for text in wanted:
        _is_satisfied(text, [*(sys.path if path is None else path)], known, found)
    return dict(sorted(found.items()))


def _is_satisfied(
    text: str, path: list[str], known: dict[tuple[str, str], bool], found: dict[str, str],
    extra: str = "",
) -> bool:  # fmt: skip
    """Whether a requirement is, with all that it leads to.

    Args:
        text: the requirement.
        path: folders with installed packages.
        known: answers by package and extra.
        found: versions by name.
        extra: for which it stands in another package's metadata.
    """
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        return False
    if asked.marker is not None and not asked.marker.evaluate({"extra": extra}):
        return True
    about = _installed(asked.name, path)
    if about is None:
        return False
    name = canonicalize_name(asked.name)
    found[name] = about.version
    for each in ("", *asked.extras):
        if (name, each) not in known:
            known[name, each] = True  # if what it leads to leads to it
            inner = [_is_satisfied(need, path, known, found, each) for need in about.requires or ()]
            known[name, each] = all(inner)
    fits = not asked.url and asked.specifier.contains(about.version, prereleases=True)
    return fits and all(known[name, each] for each in ("", *asked.extras))


def of_wheel(metadata: str) -> tuple[str, ...]:
    """What the METADATA of a wheel requires, with markers: for any interpreter and any extra."""
    return tuple(Parser().parsestr(metadata, headersonly=True).get_all("Requires-Dist", []))


def identity(folder: str) -> str:
    """What the packages in a folder add to the key of a build: their names and versions."""
    if not folder:
        return ""
    held = importlib.metadata.distributions(path=[folder])
    found = {canonicalize_name(each.metadata["Name"]): each.version for each in held}
    return json.dumps(found, sort_keys=True)


def _key(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]
