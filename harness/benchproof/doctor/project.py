"""The project: its package, benchmarks, build and commits, and what it lacks to be measured."""

from pathlib import Path

from benchproof import asv_conf, dependencies, listing, package, suite, targets, variants
from benchproof.checkout import Checkout
from benchproof.errors import BenchproofError, counted
from benchproof.init import plan as init
from benchproof.meters import METERS
from benchproof.toolchain import Toolchain
from benchproof.unmeasured import WORDS

from .machine import COMMITS, COMPILED, MAIN_JOB, Finding, degraded, missing, named, ok
from .tools import install


def check(place: Path, toolchain: Toolchain) -> list[Finding]:
    """All findings about the checkout around a place."""
    try:
        checkout = Checkout.around(place)
    except BenchproofError as error:
        remedy = "run it in a git clone of the project"
        if "git is not installed" in str(error):
            remedy = install("git")
        return named(checkout=missing(str(error), remedy, MAIN_JOB))
    return named(
        package=measured(checkout), benchmarks=benchmarks(checkout), build=build(checkout),
        history=history(checkout), changes=changes(checkout),
        implementation=chosen(checkout, toolchain),
    )  # fmt: skip


def forms(place: Path) -> tuple[str, ...]:
    """The kinds that the project around a place has; none where there is no project."""
    try:
        return _kinds(Checkout.around(place))
    except BenchproofError:
        return ()


def _kinds(checkout: Checkout) -> tuple[str, ...]:
    """Compiled, pure, or both of it in several variants."""
    compiled = variants.compiled(checkout, None)
    said = {each.kind for each in checkout.variants}
    return tuple(kind for kind in variants.KINDS
                 if kind in said or (compiled if kind == "compiled" else not compiled))  # fmt: skip


def measured(checkout: Checkout) -> Finding:
    """The package that is measured."""
    place = checkout.package
    if place and (checkout.root / place).is_dir():
        forms = " and ".join(WORDS[kind] for kind in _kinds(checkout))
        return ok(f"{place}/ of {checkout.root.name} ({forms})")
    found = package.candidates(checkout.root)
    detail = (
        f"{checkout.root.name} has no {place}/" if place else "it is not clear what is measured"
    )
    if found:
        detail += f"; {checkout.root.name} has {', '.join(found)}"
    return missing(detail, "benchproof init", MAIN_JOB)


def benchmarks(checkout: Checkout) -> Finding:
    """The folder of benchmarks, and what is in it."""
    try:
        folder = asv_conf.locate(checkout.root).folder
    except BenchproofError as error:
        return missing(str(error), "benchproof init", MAIN_JOB)
    name = folder.relative_to(checkout.root) if folder.is_relative_to(checkout.root) else folder
    if not folder.is_dir():
        return missing(f"there is no {name}/", "benchproof init", MAIN_JOB)
    rows = listing.early(folder, checkout)
    if rows is None:
        return ok(f"{name}/ (its modules import the package: a build lists them)")
    known = suite.from_rows(rows, METERS)
    if not known:
        return missing(f"{name}/ has no benchmark", "write one", MAIN_JOB)
    suites = len({case.suite for case in known})
    return ok(f"{name}/: {len(known)} in {counted(suites, 'module')}")


def build(checkout: Checkout) -> Finding:
    """What builds the project, and what of it is not installed beside this tool."""
    if checkout.builds_itself:
        return ok("the build_command of asv's configuration")
    try:
        table = init.pyproject(checkout.root).get("build-system", {})
    except BenchproofError as error:
        return missing(str(error), "mend it", MAIN_JOB)
    backend = str(table.get("build-backend", "setuptools.build_meta"))
    absent = dependencies.missing(map(str, table.get("requires", ("setuptools",))))
    if absent:
        return ok(f"{backend}; the first build fetches {', '.join(absent)}")
    return ok(f"{backend}, with all that it needs")


def history(checkout: Checkout) -> Finding:
    """Whether HEAD and its parent are here."""
    head = checkout.head()
    if head is None:
        return missing("no commit yet", "commit first: HEAD is measured", MAIN_JOB)
    detail = f"HEAD is {head[:10]}"
    if checkout.parent(head):
        shallow = ", a shallow clone" if checkout.is_shallow() else ""
        return ok(f"{detail}, its parent is here{shallow}")
    if checkout.is_shallow():
        return degraded(
            f"{detail}, its parent was cut off: the clone is shallow",
            "git fetch --deepen=50",
            COMMITS,
        )
    return degraded(f"{detail}, the first commit: it has no parent", "", COMMITS)


def changes(checkout: Checkout) -> Finding:
    """Whether the package in the working tree is the one that HEAD names."""
    if checkout.head() is None:
        return ok("nothing to differ from")
    try:
        head = targets.resolve(targets.parse("HEAD"), checkout)
        targets.refuse_dirty((head,), checkout)
    except BenchproofError as error:
        return degraded(
            str(error).splitlines()[0],
            "benchproof compare HEAD . measures them; for the others commit, or say --committed",
            COMMITS,
        )
    return ok("the package of the working tree is HEAD's")


def chosen(checkout: Checkout, toolchain: Toolchain) -> Finding:
    """Which variant a build gives."""
    known, has = checkout.variants, _kinds(checkout)
    if toolchain.compiles or "compiled" not in has:
        gives = known[0].name or f"{WORDS[has[0]]}, the only variant"
        return ok(f"a build gives {gives}")
    if "pure" not in has:
        detail = "the package is compiled, and no compiler works"
        return missing(detail, "mend the compiler", MAIN_JOB)
    return degraded("a build gives pure Python", "mend the compiler", COMPILED)
