"""The parts of each run, in the order in which they start: the longest first.

A change is tested compiled, with everything; in pure Python, with what can come out otherwise
there. That is decided by `tests/of_both.py`, and a nightly run leaves nothing out: all tests on
both implementations, and ten times as many generated examples, other ones each night.

Seconds beside the parts are processor time of a machine with two cores, to order them by.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .running import Part

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
#: Folders of tests that know only the driver, all but those that need servers.
DRIVER = ("structure", "unit", "golden", "docs", "scylla", "parity", "fuzz", "peers", "benchmarks")

#: Each part ends with its slowest tests: where the next minute can be saved.
SLOWEST = ("--durations=30", "--durations-min=4")


def _make(target: str, *needs: str, decisive: bool = False) -> Part:
    return Part(target, ("make", "--no-print-directory", target), needs, decisive=decisive)


def _tests(
    name: str,
    python: str,
    *words: str,
    needs: tuple[str, ...] = ("build",),
    after: tuple[str, ...] = (),
    pure: bool = False,
    nightly: bool = False,
    waits: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Part:
    """A part that is one run of pytest, with a cache of its own, for others run beside it."""
    return Part(
        name,
        (python, "-m", "pytest", *SLOWEST, "-o", f"cache_dir=.pytest_cache/{name}", *words),
        needs,
        after,
        waits=waits,
        environment={
            "DRIVER_IMPL": "python" if pure else "auto",
            **({"HYPOTHESIS_PROFILE": "nightly"} if nightly else {}),
            **(environment or {}),
        },
    )


def _folders(*names: str) -> tuple[str, ...]:
    return tuple(f"tests/{name}" for name in names)


def _quarter(which: int) -> list[str]:
    """Every fourth file of the harness's tests."""
    files = sorted((ROOT / "tests" / "harness").glob("test_*.py"))
    return [str(file.relative_to(ROOT)) for file in files[which::4]]


#: Older servers, and the tests that every change runs on them: requests and schema.
OLDER = ("4.1", "3.11")
ON_OLDER = ("test_execute.py", "test_prepared.py", "test_schema_round_trip.py")
#: Those that every change runs in pure Python on the newest: what is bound, sent and read there.
IN_PURE = (
    "test_execute.py", "test_prepared.py", "test_batches.py", "test_types.py", "test_rows.py",
    "test_paging.py", "test_aio.py", "test_compat_programs.py",
)  # fmt: skip


def _integration(files: Sequence[str], *, nightly: bool) -> tuple[str, ...]:
    """Tests that need servers: those of some files, or in a nightly run all."""
    return _folders(*(["integration"] if nightly else [f"integration/{file}" for file in files]))


def _older(python: str, *, nightly: bool) -> list[Part]:
    """The tests against each older server; the ring of servers is one, so after one another."""
    parts, before = [], "integration-pure"
    for release in OLDER:
        name = f"cassandra-{release}"
        parts.append(
            _tests(name, python, *_integration(ON_OLDER, nightly=nightly), after=(before,),
                   waits=True, nightly=nightly,
                   environment={"CASSANDRA_VERSION": release})
        )  # fmt: skip
        before = name
    return parts


def _prepared(_: str) -> tuple[Part, ...]:
    """What everything else needs. A machine has most of it from the second time on."""
    return (
        _make("setup", decisive=True),
        _make("lint", "setup", decisive=True),
        _make("build", "setup", decisive=True),
    )


def check(python: str) -> tuple[Part, ...]:
    """The three minutes of it that need no JDK, no browser and no valgrind."""
    return (
        *_prepared(python),
        _tests("unit", python, "-m", "not slow", *_folders("unit", "golden", "structure", "docs")),
        _tests("unit-pure", python, "--of-both", "-m", "not slow", *_folders("unit", "golden"),
               pure=True),
        _tests("parity", python, *_folders("parity")),
    )  # fmt: skip


def _everything(python: str, *, nightly: bool) -> tuple[Part, ...]:
    some = () if nightly else ("--of-both",)
    more = {"nightly": nightly}
    needs = ("build", "tools-test")
    return (
        *_prepared(python),
        _make("tools-test", "setup"),
        # A quarter of it each, file by file: together they are half of the whole run.
        *(
            _tests(f"harness-slow-{n}", python, "-m", "slow", *_quarter(n), needs=needs, **more)
            for n in range(4)
        ),
        _tests("integration", python, *_folders("integration"), waits=True, needs=needs, **more),
        _tests("driver", python, *_folders(*DRIVER), **more),
        _tests("harness", python, "-m", "not slow", *_folders("harness"), needs=needs, **more),
        _tests("browser", python, *_folders("browser"), needs=needs, **more),
        _make("docs" if nightly else "docs-check", "setup"),
        # The ring of servers is one.
        _tests("integration-pure", python, *some, *_integration(IN_PURE, nightly=nightly),
               pure=True, after=("integration",), waits=True, **more),
        *_older(python, nightly=nightly),
        _tests("driver-pure", python, *some, *_folders(*DRIVER), pure=True, **more),
    )  # fmt: skip


def test(python: str) -> tuple[Part, ...]:
    """What has to pass before a change goes in."""
    return _everything(python, nightly=False)


def nightly(python: str) -> tuple[Part, ...]:
    """Everything, whatever it takes."""
    return _everything(python, nightly=True)


def gate(_: str) -> tuple[Part, ...]:
    """The gate, which counts: what runs beside it changes no count."""
    return (_make("gate", "build", "tools-test"),)


#: The runs by name.
RUNS: dict[str, Callable[[str], tuple[Part, ...]]] = {
    "check": check,
    "test": test,
    "nightly": nightly,
    "gate": gate,
}
