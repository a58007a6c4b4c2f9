"""A side that the `build_command` and `install_command` of asv's configuration make.

They run as asv runs them: in an environment of their own with what the matrix asks for, in a copy
of the commit, with asv's variables. What they leave becomes a wheel like any other side: the one in
`{build_cache_dir}`, or, where an install_command is given, the package as it is installed then,
which requires what was installed beside it.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import interpreters, variables
from .errors import BuildError
from .package import name
from .toolchain import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .asv_conf import Commands
    from .build import Builder
    from .targets import Target

#: What asv installs in every environment, of what a build can need.
_OF_ASV = ("build", "wheel")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ONCE = ("in-dir=", "return-code=")
_CODES = re.compile(r"any|[0-9,]+")


class Command(NamedTuple):
    """One command: its words, variables, the statuses that are right (None: any), its folder."""

    words: list[str]
    variables: dict[str, str]
    statuses: set[int] | None
    folder: str | None


def parse(text: str, known: Mapping[str, str]) -> Command:
    """Read a command as asv does (`asv.util.interpolate_command`; asv itself need not be there).

    Args:
        text: words of a shell; ``NAME=value``, ``return-code=`` and ``in-dir=`` may be in front.
        known: what stands for ``{name}``.

    Raises:
        BuildError: it cannot be meant.
    """
    try:
        words = [each.format(**known) for each in shlex.split(text)]
    except (LookupError, ValueError, AttributeError, TypeError) as error:
        names = ", ".join(f"{{{name}}}" for name in sorted(known))
        raise BuildError(f"asv's command {text!r}: {error}; there are {names}") from error
    found: dict[str, str] = {}
    own: dict[str, str] = {}
    while words:
        name, mark, value = words[0].partition("=")
        if mark and f"{name}=" in _ONCE and name not in found:
            found[name] = value
        elif given := _VARIABLE.fullmatch(words[0]):
            own[given[1]] = given[2]
        else:
            break
        del words[0]
    codes = found.get("return-code", "0")
    if not words or words[0].startswith(_ONCE) or not _CODES.fullmatch(codes):
        raise BuildError(f"asv's command {text!r} names no program, or not one set of return codes")
    right = None if codes == "any" else {int(each) for each in codes.split(",") if each}
    return Command(words, own, right, found.get("in-dir"))


@dataclass(frozen=True)
class Making:
    """A side that is being made.

    Attributes:
        commands: of asv's configuration.
        builder: whose crew runs them.
        target: the side.
        tree: the copy of its files.
        scratch: for the environment, wheels and logs.
        env: the environment of a build.
    """

    commands: Commands
    builder: Builder
    target: Target
    tree: Path
    scratch: Path
    env: Mapping[str, str]

    def wheel(self, requires: Iterable[str], build: Callable[[], Path]) -> Path:
        """Run the commands; the path of the wheel that they come to.

        Args:
            requires: what the environment has from the start, beside what asv puts into all.
            build: makes a wheel, where there is no build_command.

        Raises:
            BuildError: a command fails, or leaves nothing to measure.
        """
        commands, place, wheels = self.commands, self.scratch / "env", self.scratch / "wheels"
        wheels.mkdir()
        python = place / "bin/python"
        self._run(Command([sys.executable, "-m", "venv", str(place)], {}, {0}, None), self.env)
        self.builder.dependencies.install(
            [*_OF_ASV, *sorted(requires)], self.scratch, python=str(python)
        )
        known = {
            "project": commands.project, "commit": self.target.commit or "",
            "conf_dir": str(commands.conf_dir), "build_dir": str(self.tree / commands.below),
            "build_cache_dir": str(wheels), "env_name": place.name, "env_dir": str(place),
            "env_type": "virtualenv",
        }  # fmt: skip
        env = {
            **self.env, **variables.matching(variables.INDEXES), "ASV": "true", "PIP_USER": "false",
            **{f"ASV_{name.upper()}": each for name, each in known.items()},
            "PATH": os.pathsep.join([f"{place}/bin", self.env["PATH"]]),
        }  # fmt: skip
        for text in commands.build or ():
            self._run(parse(text, known), env)
        found = list(wheels.glob("*.whl")) if commands.build is not None else [build()]
        if len(found) == 1:
            known["wheel_file"] = str(found[0])
        elif commands.install is None:
            raise BuildError(f"build_command left {len(found)} wheels in {{build_cache_dir}}")
        if commands.install is None:
            return found[0]
        package = name(self.builder.checkout.package)
        before = interpreters.ask(python, package)["beside"]
        for text in commands.install:
            self._run(parse(text, known), env)
        about = interpreters.ask(python, package)
        if not about["files"]:
            raise BuildError(f"install_command left no package {package} in {{env_dir}}")
        added = dict(about["beside"].items() - before.items())
        return interpreters.pack(about, package, added, self.scratch / "installed")

    def _run(self, command: Command, env: Mapping[str, str]) -> None:
        """Run a command.

        Raises:
            BuildError: it cannot be run, or ends with another status than it may.
        """
        given = {**env, **command.variables}
        folder = command.folder or self.tree / self.commands.below
        program = shutil.which(command.words[0], path=given["PATH"]) or command.words[0]
        try:
            child = self.builder.crew.start(
                [program, *command.words[1:]], log=self.scratch / "build.log",
                cwd=self.commands.conf_dir / folder, env=given,
            )  # fmt: skip
        except OSError as error:
            raise BuildError(f"{shlex.join(command.words)}: {error.strerror}") from error
        ended = self.builder.wait(child, self.target.spec.text)
        if command.statuses is not None and ended.status not in command.statuses:
            words = f"{self.target.spec.text}: {shlex.join(command.words)}"
            raise failure(words, ended, self.builder.cache)
