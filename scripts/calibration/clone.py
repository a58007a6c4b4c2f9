"""A scratch clone in which commits are made by git's plumbing: nobody's work tree is touched.

The clone borrows the checkout's objects, so that it costs nothing and sees every commit; what is
committed in it stays in it. Dates and names are fixed: the same change is the same commit, in this
run of a campaign and in the next one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError, TargetError
from benchproof.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Of a project that does not name another file.
ACCEPTED = Settings.accepted
_WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (
        ("NAME", "benchproof calibrate"),
        ("EMAIL", "calibrate@benchproof.invalid"),
        ("DATE", "2000-01-01T00:00:00+0000"),
    )
}


@dataclass(frozen=True)
class Clone:
    """A clone with one commit checked out, the base of everything that is committed in it.

    Attributes:
        checkout: of the clone.
        base: the hash of the commit.
    """

    checkout: Checkout
    base: str

    @property
    def root(self) -> Path:
        """The clone's work tree."""
        return self.checkout.root

    def files(self, *folders: str, ending: str = "") -> list[str]:
        """Names of the base's files below some folders."""
        return sorted(
            name for name in self.checkout.committed(self.base, folders) if name.endswith(ending)
        )

    def text(self, name: str) -> str:
        """A file of the base."""
        return self.checkout.read(self.base, name).decode()

    def has(self, commit: str) -> bool:
        """Whether a commit is here: one made in another cache is not."""
        try:
            return self.checkout.commit(commit) == commit
        except TargetError:
            return False

    def commit(self, files: Mapping[str, str | None], subject: str) -> str:
        """Commit new contents of some files, None to remove one, on top of the base; its hash."""
        with tempfile.TemporaryDirectory(prefix="benchproof-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder, "index"))}
            _git(self.root, "read-tree", self.base, env=index)
            for name, text in files.items():
                if text is None:
                    _git(self.root, "update-index", "--force-remove", name, env=index)
                    continue
                blob = _git(self.root, "hash-object", "-w", "--stdin", given=text)
                about = f"100644,{blob},{name}"
                _git(self.root, "update-index", "--add", "--cacheinfo", about, env=index)
            tree = _git(self.root, "write-tree", env=index)
        commit = _git(
            self.root, "commit-tree", tree, "-p", self.base, "-m", subject, env=_WHO
        )  # fmt: skip
        # A name keeps it from being swept up.
        _git(self.root, "update-ref", f"refs/heads/calibrate/{commit[:16]}", commit)
        return commit


def clone(checkout: Checkout, folder: Path, revision: str = "HEAD") -> Clone:
    """The clone in a folder, made if it is not there, with a revision of the checkout in its tree.

    Args:
        checkout: whose objects are borrowed.
        folder: of the clone; ignored by git, such as one in the cache.
        revision: the base. Regressions that it accepts are not: they are of other commits, so that
            its file of them is removed in a commit on top, the clone's own base.

    Raises:
        BenchproofError: git cannot make it.
    """
    base = checkout.commit(revision)
    objects = Path(checkout.root, _git(checkout.root, "rev-parse", "--git-path", "objects"))
    shallow = Path(checkout.root, _git(checkout.root, "rev-parse", "--git-path", "shallow"))
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".git").exists():
        _git(folder, "init", "--quiet", "--initial-branch=scratch")
    inside = folder / ".git"
    (inside / "objects" / "info").mkdir(parents=True, exist_ok=True)
    borrowed = f"{objects.resolve()}\n"
    (inside / "objects" / "info" / "alternates").write_text(borrowed, encoding="utf-8")
    if shallow.exists():
        shutil.copy2(shallow, inside / "shallow")
    _git(folder, "checkout", "--quiet", "--force", "--detach", base)
    made = Clone(Checkout.around(folder), base)
    if ACCEPTED not in made.checkout.committed(base, (ACCEPTED,)):
        return made
    base = made.commit({ACCEPTED: None}, "Nothing is accepted")
    _git(folder, "checkout", "--quiet", "--force", "--detach", base)
    return Clone(made.checkout, base)


def _git(
    place: Path, *arguments: str, env: Mapping[str, str] | None = None, given: str | None = None
) -> str:
    """Run git; what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    answer = subprocess.run(
        ["git", *arguments],
        cwd=place, env=kept | dict(env or {}), input=None if given is None else given.encode(),
        capture_output=True, check=False,
    )  # fmt: skip
    if answer.returncode:
        lines = answer.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"status {answer.returncode}"
        raise BenchproofError(f"git {arguments[0]} failed in {place}: {reason}")
    return answer.stdout.decode().strip()
