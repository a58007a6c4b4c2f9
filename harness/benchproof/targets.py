"""What is measured: a commit, the working tree, a release, a wheel, what is installed elsewhere.

==========================  =========================================================
written                     measured
==========================  =========================================================
``a1b2c3d``                 that commit (also a branch, a tag, ``HEAD~1``)
``.``                       the working tree, with what is not committed yet
``HEAD@impl:NAME``          that commit, in the variant of that name
``impl:NAME``               short for ``.@impl:NAME``
``pypi:NAME==VERSION``      that release: its wheel for this interpreter, as published
``dist/name-1.0-….whl``     that wheel
``repo:ADDRESS@REVISION``   a commit of another repository, a folder or an address
``python:PATH``             the package as it is installed for an interpreter, run by it
==========================  =========================================================

A side that names no variant is built in the first one of the project that can be built here.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from . import files, interpreters, package, variants
from .checkout import Checkout
from .errors import DirtyTreeError, TargetError, few

#: The tables of pyproject.toml that reach the built driver: the tools for building it, what is
#: packed, what it needs at run time. Extras, linters and test settings do not.
BUILD_TABLES = (
    ("build-system",),
    ("tool", "setuptools"),
    ("project", "dependencies"),
    ("project", "requires-python"),
)
#: What reaches no build, of a project that does not say what it is built from: folders and files
#: at its top.
_NO_INPUTS = (".github", "doc", "docs", "examples", "reports", "test", "tests", "*.md", "*.rst")
WORKING_TREE = "."
#: Holds the tables that reach the build.
PROJECT = "pyproject.toml"
_MARK = "impl:"
#: How sides begin, or end, that are no commits of this repository.
RELEASE, REPOSITORY, WHEEL = "pypi:", "repo:", ".whl"
ELSEWHERE = (RELEASE, REPOSITORY, interpreters.MARK)


def inputs(checkout: Checkout) -> tuple[str, ...]:
    """The paths that a commit must touch to change what is built: it need not, even then."""
    paths = checkout.sources
    if paths:
        return (*paths, PROJECT)
    return (".", *(f":(exclude,glob){name}{below}" for name in _no_inputs(checkout)
                   for below in ("", "/**")))  # fmt: skip


@dataclass(frozen=True)
class Spec:
    """A side as it was written: a revision or ``.``, and perhaps a variant."""

    text: str
    revision: str
    impl: str | None


@dataclass(frozen=True)
class Target:
    """A side that exists.

    Attributes:
        spec: as written.
        commit: its hash; for the working tree, that of HEAD, or None before the first commit.
        subject: the first line of the commit's message.
        dirty: whether it is a working tree that differs from `commit` in what is built.
        content: hash of everything that the build reads from the tree.
        wheel: file of a side that is not built.
        repository: that holds the commit, if it is another one.
        program: the interpreter that runs it, if it is not the one that runs this tool.
    """

    spec: Spec
    commit: str | None
    subject: str
    dirty: bool
    content: str
    wheel: str = ""
    repository: Checkout | None = None
    program: str = ""

    @property
    def read_from(self) -> str | None:
        """The commit that its files are read from; None: from the disk."""
        return None if self.is_working_tree else self.commit

    @property
    def is_working_tree(self) -> bool:
        """Whether the files on disk are measured, not a commit."""
        return self.spec.revision == WORKING_TREE

    @property
    def description(self) -> str:
        """A few words for tables and pages."""
        if self.wheel:
            return self.subject
        name = (self.commit or "no commit")[:10]
        if self.is_working_tree:
            name = f"working tree ({name}{' with changes' if self.dirty else ''})"
        return f"{name} {self.subject}".strip()


def parse(text: str) -> Spec:
    """Read a side.

    Raises:
        TargetError: it is empty, or names a variant of what has none.
    """
    revision, mark, impl = text.rpartition("@" + _MARK)
    if not mark and text.startswith(_MARK):
        revision, impl, mark = WORKING_TREE, text.removeprefix(_MARK), _MARK
    if not mark:
        revision, impl = text, ""
    if mark and not impl:
        raise TargetError(f"{text!r}: a variant is named by @impl:NAME")
    if not revision or revision.startswith("-"):
        raise TargetError(f"a side must be a commit, a release, a wheel or '.', not {text!r}")
    as_it_is = revision.startswith((RELEASE, interpreters.MARK)) or revision.endswith(WHEEL)
    if mark and as_it_is:
        raise TargetError(f"{text!r}: what is installed is measured as it is, compiled or not")
    return Spec(text, revision, impl if mark else None)


def resolve(spec: Spec, checkout: Checkout) -> Target:
    """Find what a side names; a release and another repository are fetched into the cache.

    Raises:
        TargetError: it names nothing, or a tree without a package to build.
    """
    if spec.revision.startswith(RELEASE) or spec.revision.endswith(WHEEL):
        from . import released  # noqa: PLC0415  (filelock loads asyncio)

        wheel = released.find(spec.revision, checkout.root)
        content = hashlib.sha256(wheel.read_bytes()).hexdigest()
        name, version = wheel.name.split("-")[:2]
        return Target(spec, None, f"{name} {version}", False, content, str(wheel))
    if spec.revision.startswith(interpreters.MARK):
        name = package.name(checkout.package)
        found = interpreters.find(spec.revision, name, files.cache_of(checkout.root))
        return Target(
            spec, None, found.description, False, found.content, found.wheel,
            program=found.program,
        )  # fmt: skip
    repository = None
    if spec.revision.startswith(REPOSITORY):
        from . import released  # noqa: PLC0415  (as above)

        repository, revision = released.repository(spec.revision, checkout.root)
        checkout = repository
    else:
        revision = spec.revision
    if spec.impl is not None:
        variants.named(checkout.variants, spec.impl, spec.text)
    if revision == WORKING_TREE:
        commit = checkout.head()
        content = content_of(checkout, None)
        dirty = commit is None or content != content_of(checkout, commit)
    else:
        commit = checkout.commit(revision)
        content, dirty = content_of(checkout, commit), False
    if not content:
        if not checkout.package:
            raise TargetError(
                f"it is not clear which package of {checkout.root.name} is measured: name its "
                "folder in 'package' of [tool.benchproof], or let 'benchproof init' do it"
            )
        raise TargetError(
            f"{spec.text!r} has no {checkout.package}/ with a setup.py or pyproject.toml to build "
            "it; 'package' of [tool.benchproof] names another folder"
        )
    subject = checkout.subject(commit) if commit else ""
    return Target(spec, commit, subject, dirty, content, "", repository)


def content_of(checkout: Checkout, commit: str | None) -> str:
    """Hash of what a build reads from a commit (None: the working tree); empty without a driver."""
    files, place = files_of(checkout, commit), checkout.package
    project = checkout.read(commit, PROJECT)
    held = any(
        name == f"{each}.py" or name.startswith(f"{each}/")
        for each in package.places(place) for name in files
    )  # fmt: skip
    if not (place and held) or not (project or "setup.py" in files):
        return ""
    tables = _build_tables(project)
    text = json.dumps([files, tables], sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()


def files_of(checkout: Checkout, commit: str | None) -> dict[str, str]:
    """What a commit (None: the working tree) is built from: path to hash."""
    paths, without = checkout.sources, _no_inputs(checkout)
    found = checkout.working(paths) if commit is None else checkout.committed(commit, paths)
    if paths:
        return found
    return {
        name: blob
        for name, blob in found.items()
        if name != PROJECT  # of which `_build_tables` takes a part
        and not any(fnmatchcase(name.partition("/")[0], each) or name.startswith(f"{each}/")
                   for each in without)
    }  # fmt: skip


def _no_inputs(checkout: Checkout) -> tuple[str, ...]:
    """Patterns of names at the top of a checkout, and its folder of benchmarks."""
    return (*_NO_INPUTS, *filter(None, [checkout.suites]))


def refuse_dirty(targets: tuple[Target, ...], checkout: Checkout) -> None:
    """Stop before measuring HEAD for somebody who believes that their edits are measured.

    A comparison with ``.`` on one side is exempt: there the difference is the question.

    Raises:
        DirtyTreeError: the checked-out commit is a side, and the working tree differs from it.
    """
    head = checkout.head()
    named = next((t for t in targets if t.read_from == head and not t.repository), None)
    if head is None or named is None or any(t.is_working_tree for t in targets):
        return
    if content_of(checkout, None) == named.content:
        return
    before, now = files_of(checkout, head), files_of(checkout, None)
    changed = sorted(p for p in before.keys() | now.keys() if before.get(p) != now.get(p))
    if not checkout.sources:
        # Notes and tests lie about in most working trees.
        built = (f"{checkout.package}/", f"{checkout.package}.py", "setup.", PROJECT)
        changed = [path for path in changed if path.startswith(built)]
        if not changed:
            return
    raise DirtyTreeError(
        f"{named.spec.text} would be measured without your changes to {few(changed) or PROJECT}: "
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
