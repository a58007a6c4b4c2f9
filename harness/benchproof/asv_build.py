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


def wheel(
    commands: Commands, builder: Builder, target: Target, tree: Path, env: Mapping[str, str],
    requires: Iterable[str], build: Callable[[], Path],
) -> Path:  # fmt: skip
    """Run the commands of a side; the path of the wheel that they come to.

    Args:
        commands: of asv's configuration.
        builder: whose crew runs them.
        target: the side.
        tree: the copy of its files; environment, wheels and logs go beside it.
        env: the environment of a build.
        requires: what the environment has from the start, beside what asv puts into all.
        build: makes a wheel, where there is no build_command.

    Raises:
        BuildError: a command fails, or leaves nothing to measure.
    """
    scratch, here = tree.parent, tree / commands.below
    place, wheels = scratch / "env", scratch / "wheels"
    wheels.mkdir()
    python = place / "bin/python"

    def run(command: Command, env: Mapping[str, str]) -> None:
        given = {**env, **command.variables}
        program = shutil.which(command.words[0], path=given["PATH"]) or command.words[0]
        try:
            child = builder.crew.start(
                [program, *command.words[1:]], log=scratch / "build.log",
                cwd=commands.conf_dir / (command.folder or here), env=given,
            )  # fmt: skip
        except OSError as error:
            raise BuildError(f"{shlex.join(command.words)}: {error.strerror}") from error
        ended = builder.wait(child, target.spec.text)
        if command.statuses is not None and ended.status not in command.statuses:
            words = f"{target.spec.text}: {shlex.join(command.words)}"
            raise failure(words, ended, builder.cache)

    run(Command([sys.executable, "-m", "venv", str(place)], {}, {0}, None), env)
    builder.dependencies.install([*_OF_ASV, *sorted(requires)], scratch, python=str(python))
    known = {
        "project": commands.project, "commit": target.commit or "",
        "conf_dir": str(commands.conf_dir), "build_dir": str(here), "build_cache_dir": str(wheels),
        "env_name": place.name, "env_dir": str(place), "env_type": "virtualenv",
    }  # fmt: skip
    env = {
        **env, **variables.matching(variables.INDEXES), "ASV": "true", "PIP_USER": "false",
        **{f"ASV_{name.upper()}": each for name, each in known.items()},
        "PATH": os.pathsep.join([f"{place}/bin", env["PATH"]]),
    }  # fmt: skip
    for text in commands.build or ():
        run(parse(text, known), env)
    found = list(wheels.glob("*.whl")) if commands.build is not None else [build()]
    if len(found) == 1:
        known["wheel_file"] = str(found[0])
    elif commands.install is None:
        raise BuildError(f"build_command left {len(found)} wheels in {{build_cache_dir}}")
    if commands.install is None:
        return found[0]
    package = name(builder.checkout.package)
    before = interpreters.ask(python, package)["beside"]
    for text in commands.install:
        run(parse(text, known), env)
    about = interpreters.ask(python, package)
    if not about["files"]:
        raise BuildError(f"install_command left no package {package} in {{env_dir}}")
    added = dict(about["beside"].items() - before.items())
    return interpreters.pack(about, package, added, scratch / "installed")
