"""What `benchproof init` is going to write: decided and shown first, written afterwards."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchproof import files

from . import texts
from .found import Found, find

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOW = ".github/workflows/benchproof.yml"


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
        return [*said, *self.notes, "next: benchproof compare HEAD ."]

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
        additions.append(Addition("pyproject.toml", gap + texts.table(found), before))
    if not found.has_suites:
        wanted = {
            f"{found.suites}/__init__.py": "",
            f"{found.suites}/first.py": texts.example(found),
        }
        additions += [
            Addition(path, text) for path, text in wanted.items() if not (root / path).exists()
        ]
    if workflow and (root / WORKFLOW).exists():
        notes.append(f"{WORKFLOW} is there already: it stays as it is")
    elif workflow:
        additions.append(Addition(WORKFLOW, texts.WORKFLOW))
    return Plan(found, tuple(additions), tuple(notes))
