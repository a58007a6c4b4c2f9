"""The git checkout: what a revision is, what it holds, what differs from it."""

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from . import asv_conf, files, package, variants
from .errors import BenchproofError, TargetError, check_space, meant
from .toolchain import Toolchain

#: How a `.gitignore` begins that is ours.
MARK = "# written by benchproof: what it writes by default is not committed by accident\n"


@dataclass(frozen=True)
class Checkout:
    """A working tree of git.

    Attributes:
        root: the top of the working tree.
        named: the folder or the file of benchmarks that a person named, if one did.
    """

    root: Path
    named: Path | None = None

    @classmethod
    def around(cls, place: Path) -> "Checkout":
        """The checkout that a directory lies in.

        Raises:
            BenchproofError: it lies in none, or there is no git.
        """
        answer = git(place, "rev-parse", "--show-toplevel")
        if answer.returncode:
            raise BenchproofError(f"{place} is not inside a git checkout ({reason(answer)})")
        return cls(Path(answer.stdout.decode().strip()))

    @classmethod
    def around_or_at(cls, place: Path) -> "Checkout":
        """The checkout that a directory lies in, or the directory itself if it lies in none."""
        answer = git(place, "rev-parse", "--show-toplevel")
        return cls(Path(answer.stdout.decode().strip()) if not answer.returncode else place)

    @cached_property
    def package(self) -> str:
        """Where the package that is measured lies, relative to the root."""
        return package.place(self.root)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """What it is built from: nothing else in the tree can change what is measured.

        Empty where the project does not say: then it is everything but benchmarks, tests and texts.
        """
        return tuple(package.setting(self.root, "sources", package.are_paths) or ())

    @cached_property
    def suites(self) -> str:
        """The folder of the benchmarks, relative to the root; "" if it lies elsewhere."""
        folder = asv_conf.locate(self.root, self.named).folder.resolve()
        root = self.root.resolve()
        inside = folder.is_relative_to(root) and folder != root
        return folder.relative_to(root).as_posix() if inside else ""

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """What its benchmarks need beside the package."""
        return asv_conf.requirements(
            self.root, asv_conf.locate(self.root, self.named).folder.resolve()
        )

    @cached_property
    def imported(self) -> frozenset[str]:
        """What its benchmarks import, and is installed beside the tool."""
        folder = asv_conf.locate(self.root, self.named).folder.resolve()
        return asv_conf.imported(self.root, folder, package.name(self.package))

    @cached_property
    def commands(self) -> asv_conf.Commands | None:
        """The commands of asv's configuration that build and install it, if there are such."""
        return asv_conf.commands(self.root)

    @property
    def builds_itself(self) -> bool:
        """Whether a build_command of asv's configuration builds it."""
        return self.commands is not None and self.commands.build is not None

    @cached_property
    def build_variables(self) -> tuple[str, ...]:
        """Patterns of the variables that its build reads, as the project names them."""
        return tuple(package.setting(self.root, "build-variables", package.are_patterns) or ())

    @cached_property
    def variants(self) -> tuple[variants.Variant, ...]:
        """Its named environments; one without a name where it names none.

        Raises:
            SettingsError: they cannot be meant.
        """
        return variants.named_by(self.root) or variants.of_matrix(asv_conf.matrix(self.root))

    @cached_property
    def proof(self) -> str:
        """The least grade of proof that the project demands of a benchmark, or ""."""
        return str(package.setting(self.root, "proof") or "")

    def ask(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """The output of a git command that must succeed.

        Args:
            arguments: of git.
            env: variables that it gets beside those of this process.

        Raises:
            BenchproofError: it did not.
        """
        return self.output(*arguments, env=env).decode(errors="surrogateescape").strip()

    def output(
        self, *arguments: str, env: Mapping[str, str] | None = None, data: bytes | None = None
    ) -> bytes:
        """The same as it is, of a command that may be given something to read."""
        answer = git(self.root, *arguments, env=env, data=data)
        if answer.returncode:
            raise BenchproofError(f"git {arguments[0]} failed: {reason(answer)}")
        return answer.stdout

    def commit(self, revision: str) -> str:
        """The full hash of the commit that a revision names.

        Raises:
            TargetError: it names none.
        """
        found = self._hash(revision)
        if found is None:
            said = f"unknown commit: {revision!r} names nothing in {self.root.name}"
            if self.is_shallow():
                said += ", a shallow clone: `git fetch --unshallow` brings what it lacks"
            elif not re.search(r"[~^@]", revision):
                names = self.ask("for-each-ref", "--format=%(refname:short)").split()
                said += meant(revision, [*names, "HEAD"])
            raise TargetError(said)
        return found

    def head(self) -> str | None:
        """The checked-out commit, or None before the first one."""
        return self._hash("HEAD")

    def merge_base(self, one: str, other: str) -> str:
        """The newest commit that two revisions share.

        Raises:
            TargetError: one names nothing, or they share none.
        """
        commits = self.commit(one), self.commit(other)
        answer = git(self.root, "merge-base", *commits)
        if answer.returncode:
            raise TargetError(f"{one!r} and {other!r} share no commit")
        return answer.stdout.decode().strip()

    def merged(self, one: str, other: str) -> str | None:
        """The tree that merging two commits gives, or None where they conflict.

        Raises:
            BenchproofError: git is older than 2.38, which can do that without a working tree.
        """
        answer = git(self.root, "merge-tree", "--write-tree", one, other)
        if answer.returncode not in {0, 1}:
            raise BenchproofError(f"git merge-tree --write-tree failed: {reason(answer)}")
        return None if answer.returncode else answer.stdout.decode().split()[0]

    def parent(self, commit: str) -> str | None:
        """The first parent, or None for a root commit or where a shallow clone ends."""
        return self._hash(f"{commit}^1")

    def _hash(self, revision: str) -> str | None:
        """The full hash of a commit; None where a revision names none."""
        answer = git(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options",
                      revision + "^{commit}")  # fmt: skip
        return None if answer.returncode else answer.stdout.decode().strip()

    def is_shallow(self) -> bool:
        """Whether the history was cut off when it was cloned."""
        return self.ask("rev-parse", "--is-shallow-repository") == "true"

    def subject(self, commit: str) -> str:
        """The first line of a commit's message."""
        return self.ask("show", "--no-patch", "--format=%s", commit)

    def date(self, commit: str) -> int:
        """When a commit was written (author date, as asv takes it), in milliseconds since 1970."""
        return int(self.ask("show", "--no-patch", "--format=%at", commit)) * 1000

    def committed(self, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
        """Path to git blob hash of the files of a commit below some paths."""
        listing = self.ask("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths)
        entries = (line.split("\t", 1) for line in listing.split("\0") if line)
        return {path: about.split()[2] for about, path in entries}

    def working(self, paths: tuple[str, ...]) -> dict[str, str]:
        """The same for the working tree: tracked files and new ones that are not ignored."""
        listing = self.ask(
            "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", *paths
        )
        names = sorted(set(filter(None, listing.split("\0"))))
        return {name: _blob(self.root / name) for name in names if (self.root / name).is_file()}

    def shows(self, folder: str) -> bool:
        """Whether `git status` would show a new file in a folder that holds no committed one."""
        if self.ask("ls-files", "--", folder):
            return False
        return bool(git(self.root, "check-ignore", "--quiet", f"{folder}/x").returncode)

    def hide(self, folder: Path) -> None:
        """Let git show nothing of a folder that is written by default; it need not exist yet.

        What a person names (`--json`, `--results`) is theirs. A folder that holds a committed file,
        or that the project ignores already, is left alone; another one gets a line in a
        `.gitignore` beside it that names itself too. To commit such a folder, remove that file, or
        `git add --force` once.

        Raises:
            BenchproofError: the line cannot be written.
        """
        root, folder = self.root.resolve(), folder.resolve()
        if not folder.is_relative_to(root) or not self.shows(str(folder.relative_to(root))):
            return
        ignore = folder.parent / ".gitignore"
        text = ignore.read_text(encoding="utf-8") if ignore.is_file() else f"{MARK}/.gitignore\n"
        if text.startswith(MARK):
            files.write(f"{text}/{folder.name}/\n", ignore)
        else:
            files.write(f"{MARK}*\n", folder / ".gitignore")

    def read(self, commit: str | None, path: str) -> bytes:
        """A file of a commit, or of the working tree for None; empty if it is not there."""
        if commit is None:
            file = self.root / path
            return file.read_bytes() if file.is_file() else b""
        answer = git(self.root, "show", f"{commit}:{path}")
        return b"" if answer.returncode else answer.stdout

    def touching(self, paths: tuple[str, ...], start: str) -> list[str]:
        """Commits from start backwards (first parents) that touched some paths, newest first."""
        return self.ask("log", "--first-parent", "--format=%H", start, "--", *paths).split()

    def export(self, commit: str, target: Path, *paths: str) -> None:
        """Write a commit's files, or those below some paths, into an empty directory.

        They are as `git checkout` writes them: what an archive leaves out or fills in
        (`export-ignore`, `export-subst`) belongs to a side. All have one time, so that no file
        that is made from another one and committed beside it looks older than that.
        """
        target.mkdir(exist_ok=True)
        index = target.with_name(target.name + ".index")
        env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(target)}
        listing = ("ls-tree", "-r", "-z", "--name-only", "--full-tree")
        names = self.output(*listing, commit, "--", *paths)
        try:
            # The whole tree: attributes of the folders above say how a file is written.
            self.output("read-tree", commit, env=env)
            self.output("checkout-index", "-z", "--stdin", env=env, data=names)
        except BenchproofError:
            check_space(target)
            raise
        time = index.stat().st_mtime_ns
        for name in filter(None, names.split(b"\0")):
            os.utime(target / os.fsdecode(name), ns=(time, time), follow_symlinks=False)
        index.unlink()


@dataclass(frozen=True)
class Place:
    """Where comparisons happen.

    Attributes:
        checkout: of git, with the sides.
        suites: folder of the benchmark definitions, the same for both sides.
        cache: folder of built sides.
        toolchain: what builds them.
    """

    checkout: Checkout
    suites: Path
    cache: Path
    toolchain: Toolchain


def git(
    place: Path, *arguments: str, env: Mapping[str, str] | None = None, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run git without touching its index."""
    try:
        return subprocess.run(  # noqa: S603  (our own command line, no shell)
            ["git", "--no-optional-locks", *arguments],  # noqa: S607  (git, found as people do)
            cwd=place, capture_output=True, check=False, env={**os.environ, **(env or {})},
            input=data,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise BenchproofError("git is not installed, and sides are commits: install git") from error


def reason(answer: subprocess.CompletedProcess[bytes]) -> str:
    """The last line that git wrote on its standard error."""
    lines = answer.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"status {answer.returncode}"


def _blob(file: Path) -> str:
    """The hash that git would give to a file's content."""
    data = file.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
