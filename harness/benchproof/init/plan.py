"""What `benchproof init` finds in a project, and what it writes: shown first, written then."""

import json
import re
import tomllib
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from benchproof import asv_conf, files, package, pytest_files, renamed
from benchproof.errors import BenchproofError, meant


def table(found: "Found") -> str:
    """The lines for pyproject.toml."""
    return (
        "[tool.benchproof]\n"
        f"package = {json.dumps(found.package)}\n"
        f"suites = {json.dumps(found.suites)}\n"
    )


def template(name: str) -> str:
    """The text of a file that may be written."""
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Found:
    """A project.

    Attributes:
        root: its folder.
        package: folder of the package, relative to it.
        why_package: how it was found.
        suites: folder of the benchmarks, relative to it; it need not exist.
        why_suites: how it was found.
        has_suites: whether it holds benchmarks.
        configured: whether `[tool.benchproof]` is there.
    """

    root: Path
    package: str
    why_package: str
    suites: str
    why_suites: str
    has_suites: bool
    configured: bool


def find(root: Path, named: str = "", suites: str = "") -> Found:
    """Look at a project.

    Args:
        root: the top of its checkout.
        named: folder of the package, where a person named it.
        suites: the same of the benchmarks.

    Raises:
        BenchproofError: it is not clear what is measured, or nothing builds it.
    """
    whole = pyproject(root)
    table = whole.get("tool", {}).get(renamed.table_name(whole.get("tool", {})), {})
    if not whole and not (root / "setup.py").is_file():
        raise BenchproofError(
            f"{root.name} has no pyproject.toml and no setup.py: pip cannot build what is measured"
        )
    place, why = _package(root, whole, named or str(table.get("package", "")))
    folder, why_suites = _suites(root, suites or str(table.get("suites", "")), place)
    held = pytest_files.hold(root / folder)
    return Found(root, place, why, folder, why_suites, held, bool(table))


def pyproject(root: Path) -> dict[str, Any]:
    """The project's pyproject.toml; empty without one.

    Raises:
        BenchproofError: it is no TOML.
    """
    try:
        return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BenchproofError(f"pyproject.toml: {error}") from error


def _package(root: Path, whole: dict[str, Any], named: str) -> tuple[str, str]:
    """The package's folder, and how it was found."""
    known = package.candidates(root)
    if named:
        there = (root / named / "__init__.py", (root / named).with_suffix(".py"))
        if not package.is_place(named) or not any(file.is_file() for file in there):
            raise BenchproofError(f"{named!r} is no package in {root.name}{meant(named, known)}")
        return named, "as it was named"
    found = package.place(root)
    if found:
        wanted = re.sub(r"[-_.]+", "_", str(whole.get("project", {}).get("name", ""))).lower()
        below = " below src/" if found.startswith("src/") else ""
        by_name = package.name(found).replace(".", "_").lower() == wanted
        return found, "named as the project" if by_name else f"the only package{below}"
    if not known:
        raise BenchproofError(
            f"no package in {root.name} or its src/: a folder with an __init__.py is what is "
            "measured; --package names it"
        )
    raise BenchproofError(
        f"{root.name} has several packages ({', '.join(known)}): choose one with --package"
    )


def _suites(root: Path, named: str, package: str) -> tuple[str, str]:
    """The folder of the benchmarks, and how it was found."""
    if named:
        return named.rstrip("/"), "as it was named"
    found = asv_conf.locate(root)
    if found.why and found.folder.is_dir() and found.folder.resolve().is_relative_to(root):
        place = str(found.folder.resolve().relative_to(root))
        return place, found.why.partition(", ")[2]
    for name in asv_conf.USUAL:
        if pytest_files.hold(root / name):
            return name, "it holds benchmarks"
    free = (name for name in ("benchmarks", *asv_conf.USUAL) if not (root / name).exists())
    return next((n for n in free if n != package), "benchproof_suites"), "new: there are none yet"


WORKFLOW = ".github/workflows/benchproof.yml"
#: What measures before anything was edited, too.
NEXT = "next: benchproof compare HEAD . --force (without --force once there is an edit to measure)"


@dataclass(frozen=True)
class Addition:
    """A file that is written.

    Attributes:
        path: relative to the project.
        text: what is added to it.
        before: what it holds now, which stays; empty for a new file.
    """

    path: str
    text: str
    before: str = ""


@dataclass(frozen=True)
class Plan:
    """What was found, and what is written because of it.

    Attributes:
        found: the project.
        additions: in the order of writing.
        notes: what a person has to know or do.
    """

    found: Found
    additions: tuple[Addition, ...]
    notes: tuple[str, ...]

    def write(self) -> None:
        """Write all of it.

        Raises:
            BenchproofError: a file cannot be written.
        """
        for each in self.additions:
            files.write(each.before + each.text, self.found.root / each.path)

    def lines(self, *, dry_run: bool) -> list[str]:
        """What to tell a person."""
        found = self.found
        said = [
            f"package: {found.package} ({found.why_package})",
            f"benchmarks: {found.suites}/ ({found.why_suites})",
        ]
        for each in self.additions:
            verb = "would add to" if dry_run else "added to"
            if not each.before:
                verb = "would write" if dry_run else "wrote"
            said.append(f"{verb} {each.path}")
            if dry_run:
                said += [f"  | {line}".rstrip() for line in each.text.splitlines()]
        if not self.additions:
            said.append("nothing to write: the project is set up")
        return [*said, *self.notes, NEXT]

    def document(self, *, dry_run: bool) -> dict[str, Any]:
        """The same as data."""
        found = asdict(self.found) | {"root": str(self.found.root)}
        return {
            "schema": 1, "kind": "init", "dry_run": dry_run, "found": found,
            "written": [{"path": each.path, "text": each.text} for each in self.additions],
            "notes": list(self.notes),
        }  # fmt: skip


def plan(root: Path, package: str = "", suites: str = "", *, workflow: bool = False) -> Plan:
    """Look at a project, and decide.

    Args:
        root: the top of its checkout.
        package: folder of the package, where a person named it.
        suites: the same of the benchmarks.
        workflow: whether a GitHub workflow is wanted.

    Raises:
        BenchproofError: it is not clear what is measured.
    """
    found = find(root, package, suites)
    additions, notes = [], []
    if found.configured:
        notes.append("pyproject.toml has [tool.benchproof] already: it stays as it is")
    else:
        file = root / "pyproject.toml"
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        additions.append(Addition("pyproject.toml", gap + table(found), before))
    if not found.has_suites:
        wanted = {
            f"{found.suites}/__init__.py": "",
            f"{found.suites}/first.py": template("first.py.in").replace(
                "@package@", found.package.rpartition("/")[2]
            ),
        }
        new = [Addition(path, text) for path, text in wanted.items() if not (root / path).exists()]
        additions += new
        notes += [
            f"{each.path}: put a call of what is to be measured into time_first"
            for each in new if each.text
        ]  # fmt: skip
    if workflow and (root / WORKFLOW).exists():
        notes.append(f"{WORKFLOW} is there already: it stays as it is")
    elif workflow:
        additions.append(Addition(WORKFLOW, template("gate.yml")))
        notes.append(f"{WORKFLOW}: put the address and the commit of benchproof into BENCHPROOF")
    return Plan(found, tuple(additions), tuple(notes))
