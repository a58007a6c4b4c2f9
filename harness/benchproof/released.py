"""Sides that are no commits of this repository: releases, wheels, commits of another one."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

from filelock import FileLock
from packaging.tags import sys_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from . import dependencies, files
from .checkout import Checkout, git, reason
from .errors import TargetError

_RELEASE = re.compile(r"pypi:(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+-]+)")
#: How pip ends its list of the versions that there are.
_VERSIONS = re.compile(r"\(from versions: (?P<versions>[^)]*)\)")


def find(text: str, root: Path) -> Path:
    """The wheel of a side.

    Args:
        text: ``pypi:NAME==VERSION``, or the path of a wheel.
        root: of the project, whose cache keeps what is downloaded.

    Raises:
        TargetError: there is no such release or file, or none for this interpreter.
    """
    if not text.startswith("pypi:"):
        wheel = Path(text).resolve()
        if not wheel.is_file():
            raise TargetError(f"there is no file {text}")
        _check(wheel)
        return wheel
    found = _RELEASE.fullmatch(text)
    if found is None:
        raise TargetError(f"{text!r}: write pypi:NAME==VERSION")
    name = found["name"]
    try:
        version = Version(found["version"])
    except InvalidVersion:
        raise TargetError(f"{text!r}: {found['version']!r} is no version") from None
    folder = files.cache_of(root) / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{canonicalize_name(name)}.lock"):
        return _held(folder, name, version) or _download(folder, name, version)


def _held(folder: Path, name: str, version: Version) -> Path | None:
    """A wheel of a release that an earlier comparison downloaded, and that runs here."""
    tags = set(sys_tags())
    for wheel in sorted(folder.glob("*.whl")):
        distribution, its, _, fits = parse_wheel_filename(wheel.name)
        if distribution == canonicalize_name(name) and its == version and fits & tags:
            return wheel
    return None


def _download(folder: Path, name: str, version: Version) -> Path:
    """Let pip choose the wheel for this interpreter.

    Raises:
        TargetError: there is none.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
               "--no-input", "--disable-pip-version-check", "--dest", str(folder), "--",
               f"{name}=={version}"]  # fmt: skip
    answer = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheel = None if answer.returncode else _held(folder, name, version)
    if wheel is not None:
        return wheel
    if dependencies.is_unreached(answer.stderr.splitlines()):
        raise TargetError(f"{name} {version} cannot be downloaded: {dependencies.UNREACHED}")
    known = _VERSIONS.search(answer.stderr)
    versions = [each for each in known["versions"].split(", ") if each] if known else []
    if versions and versions != ["none"]:
        raise TargetError(
            f"there is no wheel of {name} {version} for this interpreter (the newest is "
            f"{versions[-1]})"
        )
    if known:
        raise TargetError(f"there is no wheel of {name} for this interpreter, or no such project")
    words = [line for line in answer.stderr.splitlines() if line.startswith("ERROR: ")]
    reason = words[-1].removeprefix("ERROR: ") if words else f"status {answer.returncode}"
    raise TargetError(f"{name} {version} cannot be downloaded: {reason}")


def _check(wheel: Path) -> None:
    """Refuse a wheel for another interpreter or system.

    Raises:
        TargetError: it is one, or its name is none of a wheel.
    """
    try:
        fits = parse_wheel_filename(wheel.name)[3]
    except (InvalidWheelFilename, InvalidVersion) as error:
        raise TargetError(f"{wheel.name}: {error}") from error
    if not fits & set(sys_tags()):
        here = next(iter(sys_tags()))
        tags = ", ".join(sorted(map(str, fits)))
        raise TargetError(f"{wheel.name} is for {tags}, and this interpreter is {here}")


def repository(text: str, root: Path) -> tuple[Checkout, str]:
    """Another repository, and the revision that is meant in it.

    One at an address, and one without a working tree, is cloned into the cache and fetched again
    each time. What no branch or tag has, such as ``refs/pull/7/head``, is fetched by its name.

    Args:
        text: ``repo:ADDRESS@REVISION``; a folder, or an address that git can clone.
        root: of the project.

    Raises:
        TargetError: it cannot be had.
    """
    address, _, revision = text.removeprefix("repo:").rpartition("@")
    if not address or not revision:
        raise TargetError(f"{text!r}: write repo:ADDRESS@REVISION, of a folder or an address")
    if Path(address).is_dir():
        bare = git(Path(address), "rev-parse", "--is-bare-repository").stdout.strip()
        if bare != b"true":  # it has a working tree
            return Checkout.around(Path(address)), revision
        address = str(Path(address).resolve())
    folder = (
        files.cache_of(root) / "repositories" / hashlib.sha256(address.encode()).hexdigest()[:16]
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if folder.is_dir():
            answer = git(folder, "fetch", "--quiet", "--tags", "origin")
        else:
            answer = git(Path.cwd(), "clone", "--quiet", "--", address, str(folder))
    if answer.returncode:
        raise TargetError(f"{address} cannot be cloned: {reason(answer)}")
    found = Checkout(folder)
    branch = f"origin/{revision}"
    known = found.ask("for-each-ref", "--format=%(refname:short)").split()
    if branch in known:
        return found, branch
    if not git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").returncode:
        return found, revision
    fetched = git(folder, "fetch", "--quiet", "--", "origin", revision)
    return found, revision if fetched.returncode else found.commit("FETCH_HEAD")
