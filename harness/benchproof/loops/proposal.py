"""A proposed change as a commit that no branch holds: of the working tree, a patch or a branch.

The working tree is read through an index of its own, so that neither the user's index nor a branch
is touched, and what is measured stays as it was when the command began.
"""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchproof import files
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError, TargetError
from benchproof.targets import WORKING_TREE

#: Stands for a patch on standard input.
STDIN = "-"
_PATCHES = (".patch", ".diff")
#: Who made a commit that is thrown away, where git does not know the user.
_NOBODY = ("-c", "user.name=benchproof", "-c", "user.email=benchproof@localhost")
#: Of a diff, the lines that say where, and not what.
_WHERE = ("@@", "index ", "diff --git ")


@dataclass(frozen=True)
class Proposal:
    """A change that is not decided yet.

    Attributes:
        text: as a person named it.
        words: what it is, for a line.
        base: the commit that it changes.
        commit: that holds the change.
        key: hash of what is changed, wherever in a file and on whatever base.
        files: that it changes.
    """

    text: str
    words: str
    base: str
    commit: str
    key: str
    files: tuple[str, ...]


def find(text: str, base: str, checkout: Checkout) -> Proposal:
    """The change that a person names.

    Args:
        text: ``.`` for the working tree, ``-`` or a file for a patch, else a branch or commit.
        base: as written; "" for HEAD, or of a branch for where it left HEAD.
        checkout: that holds it.

    Raises:
        TargetError: it names nothing, does not apply, or changes nothing.
    """
    is_patch = text == STDIN or (text.endswith(_PATCHES) or Path(text).is_file())
    if text == WORKING_TREE or is_patch:
        start = checkout.commit(base or "HEAD")
        words = "the working tree" if text == WORKING_TREE else f"the patch {text}"
        commit = made(start, text if is_patch else "", words, checkout)
    else:
        commit = checkout.commit(text)
        start = checkout.commit(base) if base else checkout.merge_base("HEAD", text)
        words = f"{text} ({commit[:10]})"
    diff = ("diff", "--no-ext-diff", "--no-color", "--no-renames", start, commit)
    names = checkout.ask(*diff, "--name-only", "-z").split("\0")
    if not any(names):
        why = "; --base names what it is measured against" if not base else ""
        raise TargetError(f"{words} changes nothing of {start[:10]}{why}")
    lines = checkout.ask(*diff, "--unified=0", "--binary", "--full-index").splitlines()
    what = "\n".join(line for line in lines if not line.startswith(_WHERE))
    key = hashlib.sha256(what.encode(errors="surrogateescape")).hexdigest()[:16]
    return Proposal(text, words, start, commit, key, tuple(filter(None, names)))


def made(base: str, patch: str, words: str, checkout: Checkout) -> str:
    """A commit of a base with a patch, or of the working tree if it is "", that no branch knows."""
    with files.scratch() as scratch:
        env = {"GIT_INDEX_FILE": str(scratch / "index")}
        checkout.ask("read-tree", base if patch else "HEAD", env=env)
        if patch:
            file = Path(patch).absolute()
            if patch == STDIN:
                file = scratch / "patch"
                file.write_bytes(sys.stdin.buffer.read())
            try:
                checkout.ask("apply", "--cached", "--whitespace=nowarn", str(file), env=env)
            except BenchproofError as error:
                raise TargetError(f"{words} does not apply to {base[:10]}: {error}") from error
        else:
            # A repository in this one is no part of it: git would fail, or keep a link to it.
            others = checkout.ask("ls-files", "--others", "--exclude-standard", "-z").split("\0")
            nested = [f":(exclude,literal){each[:-1]}" for each in others if each.endswith("/")]
            checkout.ask("add", "--all", "--", ".", *nested, env=env)
        tree = checkout.ask("write-tree", env=env)
    return hold(tree, (base,), words, checkout)


def hold(tree: str, parents: Sequence[str], words: str, checkout: Checkout) -> str:
    """A commit of a tree that no branch knows; always the same for the same."""
    old = {f"GIT_{who}_DATE": "@315532800 +0000" for who in ("AUTHOR", "COMMITTER")}
    above = [word for each in parents for word in ("-p", each)]
    return checkout.ask(*_NOBODY, "commit-tree", *above, "-m", words, tree, env=old)


def commit(proposal: Proposal, message: str, checkout: Checkout) -> str:
    """Commit a change on the user's branch, which must still be at its base; the new commit.

    Raises:
        BenchproofError: it is not, or the change does not fit what lies in the working tree.
    """
    if checkout.head() != proposal.base:
        raise TargetError(
            f"nothing was committed: HEAD is not {proposal.base[:10]}, which the change was "
            "measured against"
        )
    tree = checkout.ask("rev-parse", f"{proposal.commit}^{{tree}}")
    made = checkout.ask("commit-tree", "-p", proposal.base, "-m", message, tree)
    if proposal.text == WORKING_TREE:
        checkout.ask("reset", "--quiet", made)  # the files are there already
    else:
        checkout.ask("merge", "--quiet", "--ff-only", made)
    return made


def judges(proposal: Proposal, suites: str) -> list[str]:
    """The files of a change that decide about changes: tests, benchmarks, settings.

    Args:
        proposal: the change.
        suites: folder of the benchmarks, relative to the checkout; "" if it lies elsewhere.
    """
    found = []
    for name in proposal.files:
        path = Path(name)
        test = path.name.startswith("test_") or path.name.endswith(("_test.py", "conftest.py"))
        tests = {"test", "tests"} & set(path.parts)
        own = bool(suites) and path.is_relative_to(suites)
        if test or tests or own or name in {"pyproject.toml", "accepted.toml"}:
            found.append(name)
    return found
