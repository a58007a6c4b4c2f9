"""A package as it is installed for some interpreter, packed as a wheel.

So an existing interpreter is a side: the copy is what is measured and what is compared, run by that
interpreter, and everything else that it imports comes from that environment, as it is. So is what
asv's install_command leaves in an environment (`asv_build`).
"""

import hashlib
import json
import os
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import TargetError

#: How such a side begins.
MARK = "python:"
#: The oldest that runs this tool's workers.
OLDEST = (3, 11)
_SECONDS = 60
#: Asks an interpreter for itself and for a package: its folders or its file, what else was
#: installed with it, which versions are installed beside it, and which of those it leads to.
_ASK = """
import importlib.metadata, importlib.util, json, os, re, sys
name = sys.argv[1]
found = {"version": list(sys.version_info[:3]), "implementation": sys.implementation.name,
         "prefix": sys.prefix, "files": [], "distribution": "", "release": "",
         "needs": {}, "beside": {each.metadata["Name"]: each.version
                                 for each in importlib.metadata.distributions()}}
def known(name):
    return re.sub(r"[-_.]+", "-", name).lower()
seen = set()
def follow(about, extras=()):
    for text in about.requires or ():
        asked, _, marker = text.partition(";")
        extra = re.search(r"\\bextra\\s*==\\s*.([\\w.-]+)", marker)
        if extra and known(extra[1]) not in extras:
            continue
        name, _, more = re.match(r"([\\w.-]+)\\s*(\\[(.*?)\\])?", asked).groups()
        try:
            inner = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        more = tuple(map(known, re.findall(r"[\\w.-]+", more or "")))
        if (known(name), more) not in seen:
            seen.add((known(name), more))
            found["needs"][known(name)] = inner.version
            follow(inner, more)
spec = importlib.util.find_spec(name) if name else None
if spec is not None:
    for place in spec.submodule_search_locations or ():
        inside = name.replace(".", "/")
        for folder, _, names in os.walk(place):
            for each in names:
                path = os.path.join(folder, each)
                found["files"].append([path, inside + "/" + os.path.relpath(path, place)])
    if not spec.submodule_search_locations:
        found["files"].append([spec.origin, os.path.basename(spec.origin)])
    named = importlib.metadata.packages_distributions().get(name.partition(".")[0], [])
    for each in named[:1]:
        about = importlib.metadata.distribution(each)
        found.update(distribution=about.metadata["Name"], release=about.version)
        found["beside"].pop(about.metadata["Name"], None)
        follow(about)
        found["needs"].pop(known(about.metadata["Name"]), None)
        for file in about.files or ():
            inner = str(file)
            if not inner.startswith("..") and ".dist-info/" not in inner:
                found["files"].append([str(about.locate_file(file)), inner])
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter, and the package that is measured in it.

    Attributes:
        program: its path.
        wheel: the package's files, packed.
        description: a few words for tables.
        content: hash of the files and of the interpreter.
    """

    program: str
    wheel: str
    description: str
    content: str


def find(text: str, package: str, cache: Path) -> Interpreter:
    """Ask an interpreter for a package, and pack its files.

    Args:
        text: ``python:PATH``.
        package: name by which it is imported; "" where that is not known.
        cache: of the project; keeps the packed files.

    Raises:
        TargetError: it is no interpreter that can run workers, or has no such package.
    """
    # A link is not followed: an environment's interpreter is one to another environment's.
    program = Path(os.path.abspath(Path(text.removeprefix(MARK)).expanduser()))  # noqa: PTH100
    if not program.is_file():
        raise TargetError(f"{text!r}: there is no file {program}")
    about = ask(program, package)
    version = ".".join(map(str, about["version"]))
    if tuple(about["version"][:2]) < OLDEST or about["implementation"] != "cpython":
        least = ".".join(map(str, OLDEST))
        raise TargetError(
            f"{program} is {about['implementation']} {version}: CPython {least} or newer is needed"
        )
    if not package:
        raise TargetError(
            f"{text!r}: it is not clear which package is measured: name its folder in 'package' "
            "of [tool.benchproof]"
        )
    if not about["files"]:
        raise TargetError(f"{program} has no package {package}: install it there")
    wheel = pack(about, package, about["needs"], cache / "installed")
    content = hashlib.sha256(f"{program} {about['prefix']} {version} {wheel.parent.name}".encode())
    name, release = about["distribution"] or package, about["release"] or "0"
    return Interpreter(
        str(program), str(wheel), f"{name} {release} in CPython {version} ({program})",
        content.hexdigest(),
    )  # fmt: skip


def ask(program: Path, package: str) -> dict[str, Any]:
    """What an interpreter says of itself and of a package.

    Raises:
        TargetError: it says nothing that can be read.
    """
    try:
        answer = subprocess.run(  # noqa: S603  (the interpreter that a person named)
            [str(program), "-I", "-c", _ASK, package],
            capture_output=True, text=True, check=False, timeout=_SECONDS,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(answer.stdout)
        found["version"]
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{program} is no Python interpreter that runs here") from error
    return found


def pack(about: Mapping[str, Any], package: str, needs: Mapping[str, str], folder: Path) -> Path:
    """Write a package as a wheel, as one step.

    Args:
        about: what an interpreter says of it (`ask`).
        package: name by which it is imported.
        needs: the packages that the wheel requires, and their versions.
        folder: in which the wheel gets a folder, named after its version, files and needs.
    """
    name, release = about["distribution"] or package, about["release"] or "0"
    stem = f"{name.replace('-', '_')}-{release}"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {release}"]
    lines += [f"Requires-Dist: {each}=={its}" for each, its in sorted(needs.items())]
    held = {f"{stem}.dist-info/METADATA": "\n".join(lines).encode() + b"\n"}
    for path, inner in about["files"]:
        if "__pycache__" not in inner and Path(path).is_file():
            held[inner] = Path(path).read_bytes()
    found = hashlib.sha256()
    for inner, data in sorted(held.items()):
        found.update(f"{inner}\0{len(data)}\0".encode())
        found.update(data)
    wheel = folder / found.hexdigest()[:24] / f"{stem}-py3-none-any.whl"
    if not wheel.is_file():
        wheel.parent.mkdir(parents=True, exist_ok=True)
        part = wheel.with_name(f"{wheel.name}.{os.getpid()}")
        with zipfile.ZipFile(part, "w") as archive:
            for inner, data in held.items():
                archive.writestr(inner, data)
        part.replace(wheel)
    return wheel
