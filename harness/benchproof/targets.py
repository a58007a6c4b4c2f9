"""What is measured: a commit, a branch, a tag, the working tree, an implementation of any of them.

=====================  =========================================================
written                measured
=====================  =========================================================
``a1b2c3d``            that commit (also a branch, a tag, ``HEAD~1``)
``.``                  the working tree, with what is not committed yet
``HEAD@impl:python``   that commit, in pure Python
``HEAD@impl:cython``   that commit, compiled; an error if it cannot be
``impl:python``        short for ``.@impl:python``
=====================  =========================================================

A side that names no implementation is compiled where a C compiler works, else pure.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from .errors import DirtyTreeError, TargetError
from .near import meant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .checkout import Checkout

Implementation = Literal["cython", "python"]
IMPLEMENTATIONS: tuple[Implementation, ...] = get_args(Implementation)

#: The tables of pyproject.toml that reach the built driver: the tools for building it, what is
#: packed, what it needs at run time. Extras, linters and test settings do not.
BUILD_TABLES = (
    ("build-system",),
    ("tool", "setuptools"),
    ("project", "dependencies"),
    ("project", "requires-python"),
)
WORKING_TREE = "."
#: Holds the tables that reach the build.
PROJECT = "pyproject.toml"
_MARK = "impl:"


def sources(checkout: Checkout) -> tuple[str, ...]:
    """What a driver is built from: nothing else in the tree can change what is measured."""
    return checkout.package, "setup.py"


def inputs(checkout: Checkout) -> tuple[str, ...]:
    """The paths that a commit must touch to change what is built: it need not, even then."""
    return *sources(checkout), PROJECT


@dataclass(frozen=True)
class Spec:
    """A side as it was written: a revision or ``.``, and perhaps an implementation."""

    text: str
    revision: str
    impl: Implementation | None


@dataclass(frozen=True)
class Target:
    """A side that exists.

    Attributes:
        spec: as written.
        commit: its hash; for the working tree, that of HEAD, or None before the first commit.
        subject: the first line of the commit's message.
        dirty: whether it is a working tree that differs from `commit` in what is built.
        content: hash of everything that the build reads from the tree.
    """

    spec: Spec
    commit: str | None
    subject: str
    dirty: bool
    content: str

    @property
    def is_working_tree(self) -> bool:
        """Whether the files on disk are measured, not a commit."""
        return self.spec.revision == WORKING_TREE

    @property
    def description(self) -> str:
        """A few words for tables and pages."""
        name = (self.commit or "no commit")[:10]
        if self.is_working_tree:
            name = f"working tree ({name}{' with changes' if self.dirty else ''})"
        return f"{name} {self.subject}".strip()


def parse(text: str) -> Spec:
    """Read a side.

    Raises:
        TargetError: it is empty, or its implementation is not one.
    """
    revision, mark, impl = text.rpartition("@" + _MARK)
    if not mark and text.startswith(_MARK):
        revision, impl, mark = WORKING_TREE, text.removeprefix(_MARK), _MARK
    if not mark:
        revision, impl = text, ""
    if not revision or revision.startswith("-"):
        raise TargetError(f"a side must be a commit or '.', not {text!r}")
    if not mark:
        return Spec(text, revision, None)
    if impl == "cython":
        return Spec(text, revision, "cython")
    if impl == "python":
        return Spec(text, revision, "python")
    raise TargetError(
        f"{text!r}: the implementation must be impl:cython or impl:python"
        f"{meant(impl, IMPLEMENTATIONS)}"
    )


def resolve(spec: Spec, checkout: Checkout) -> Target:
    """Find what a side names.

    Raises:
        TargetError: it names nothing, or a tree without a driver to build.
    """
    if spec.revision == WORKING_TREE:
        commit = checkout.head()
        content = content_of(checkout, None)
        dirty = commit is None or content != content_of(checkout, commit)
    else:
        commit = checkout.commit(spec.revision)
        content, dirty = content_of(checkout, commit), False
    if not content:
        raise TargetError(
            f"{spec.text!r} has no {checkout.package}/ with a setup.py or pyproject.toml to build "
            "it; 'package' of [tool.benchproof] names another folder"
        )
    return Target(spec, commit, checkout.subject(commit) if commit else "", dirty, content)


def content_of(checkout: Checkout, commit: str | None) -> str:
    """Hash of what a build reads from a commit (None: the working tree); empty without a driver."""
    paths = sources(checkout)
    files = checkout.working(paths) if commit is None else checkout.committed(commit, paths)
    project = checkout.read(commit, PROJECT)
    if not any(name.startswith(f"{checkout.package}/") for name in files) or not (
        project or "setup.py" in files
    ):
        return ""
    tables = _build_tables(project)
    text = json.dumps([files, tables], sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def refuse_dirty(targets: tuple[Target, ...], checkout: Checkout) -> None:
    """Stop before measuring HEAD for somebody who believes that their edits are measured.

    A comparison with ``.`` on one side is exempt: there the difference is the question.

    Raises:
        DirtyTreeError: the checked-out commit is a side, and the working tree differs from it.
    """
    head = checkout.head()
    named = next((t for t in targets if t.commit == head and not t.is_working_tree), None)
    if named is None or any(t.is_working_tree for t in targets):
        return
    if content_of(checkout, None) == named.content:
        return
    paths = sources(checkout)
    before, now = checkout.committed(head or "", paths), checkout.working(paths)
    changed = sorted(p for p in before.keys() | now.keys() if before.get(p) != now.get(p))
    names = ", ".join(changed[:3]) or "pyproject.toml"
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    raise DirtyTreeError(
        f"{named.spec.text} would be measured without your changes to {names}{more}: "
        "commit them, measure '.', or say --committed"
    )


def _build_tables(text: bytes) -> Mapping[str, object]:
    """The parts of a pyproject.toml that reach the built driver."""
    try:
        document = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {"unreadable": hashlib.sha256(text).hexdigest()}
    backend = document.get("build-system", {}).get("build-backend", "setuptools")
    if not str(backend).startswith("setuptools"):
        # Which tables another backend reads is its own affair.
        return {"whole": hashlib.sha256(text).hexdigest()}
    found: dict[str, object] = {}
    for path in BUILD_TABLES:
        node: object = document
        for key in path:
            node = node.get(key) if isinstance(node, dict) else None
        found[".".join(path)] = node
    return found
