"""Workers of dask.distributed measure what one commit needs: who is fit, what they get, who died.

A worker is fit if all that changes an exact count is the client's (`identity`). It unpacks the
repository, by content, into folders whose paths are as long as the client's, and takes one unit at
a time.
"""

import asyncio
import hashlib
import io
import os
import shutil
import socket
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Self

import distributed
from filelock import FileLock

from . import compare, files, provenance, toolchain, variables
from .checkout import Checkout, Place
from .errors import BenchproofError, StoppedError
from .history.choice import Plan
from .history.loops import Loops
from .history.measure import Asked, Measured, Measurer
from .history.writing import FAILED
from .loops import proposal
from .processes import Crew
from .progress import Teller
from .suite import Case

#: Seconds: to reach the scheduler; between two looks at the workers; without one, until that ends.
REACH, LOOK, PATIENCE = 10, 2.0, 60.0
#: Characters of a hash that name a worker's folder.
_NAMED = 8


class FleetError(BenchproofError):
    """A scheduler that cannot be reached, or no worker that measures what the client would."""


def identity() -> dict[str, str]:
    """All of a machine that can change an exact count, by what it is called."""
    tools, here = _toolchain(), Path(__file__).parent
    facts = provenance.gather(tools)
    return {
        "Python": str(facts["python"]),
        "processor": str(facts["cpu"]),
        "benchproof": provenance.own_version(),
        "valgrind": str(facts["valgrind"]),
        "packages": ", ".join(f"{name} {each}" for name, each in facts["packages"].items()),
        "compiler": str(facts["compiler"]),
        "variables": variables.told(variables.deciding()),
        "lengths of the paths of Python, benchproof and TMPDIR":
            " ".join(str(len(str(each))) for each in (sys.executable, here, files.temporary())),
    }  # fmt: skip


@cache
def _toolchain() -> toolchain.Toolchain:
    """What builds here; a worker looks once."""
    return toolchain.find()


@dataclass(frozen=True)
class Parcel:
    """What a worker needs of the client's checkout.

    Attributes:
        key: hash of the contents.
        place: the client's.
        head: the checked-out commit.
        tree: a commit of the working tree.
        objects: git's, packed: of these, of the commits that are measured and all before them.
        suites: a tar file of the benchmarks, also of those that git ignores.
        given: the variables that the project's build reads, as they are set at the client.
    """

    key: str
    place: Place
    head: str
    tree: str
    objects: bytes
    suites: bytes
    given: Mapping[str, str]

    @classmethod
    def of(cls, place: Place, commits: Iterable[str]) -> "Parcel":
        """Pack what some commits need."""
        checkout, held = place.checkout, io.BytesIO()
        head = checkout.commit("HEAD")
        tree = proposal.made(head, "", "the working tree", checkout)
        with tarfile.open(fileobj=held, mode="w") as tar:
            tar.add(place.suites.resolve(), _inside(place), filter=_plain)
        wanted = sorted({*commits, head, tree})
        objects = checkout.output(
            "pack-objects", "--revs", "--stdout", "--quiet", data="\n".join([*wanted, ""]).encode()
        )
        given = variables.matching(checkout.build_variables)
        words = (*wanted, head, tree, str(place), str(given))
        key = hashlib.sha256("\0".join(words).encode() + held.getvalue()).hexdigest()
        return cls(key[:24], place, head, tree, objects, held.getvalue(), given)

    def unpacked(self) -> Place:
        """The place of this worker: as long as the client's, made if it is not there.

        Raises:
            FleetError: the client's paths are too short for that.
        """
        root, cache = self._as_long(self.place.checkout.root), self._as_long(self.place.cache)
        inside = self.place.cache.is_relative_to(self.place.checkout.root)
        if inside:
            cache = root / self.place.cache.relative_to(self.place.checkout.root)
        suites, near = self.place.suites.resolve(), self.place.checkout.root.resolve()
        # In a folder of its own: Python lists the one that it imports from, and what it finds there
        # lies in memory before what is counted.
        above = root if suites.is_relative_to(near) else self._as_long(suites.parent)
        put = above / _inside(self.place)
        with FileLock(files.temporary() / f"benchproof-{self.key}.lock"):
            done = root / ".git" / "benchproof-unpacked"
            if not (done.exists() and put.exists()):
                for folder in (root, put):
                    shutil.rmtree(folder, ignore_errors=True)
                self._unpack(root, above)
                done.touch()
        named = self.place.checkout.named and put
        return Place(replace(Checkout(root), named=named), put, cache, _toolchain())

    def _as_long(self, path: Path) -> Path:
        """A path in this worker's folder for such things: as long, with a name of the contents."""
        start, text = f"{files.temporary()}/", str(path)
        left = len(text) - len(start)
        if left < _NAMED:
            raise FleetError(
                f"{path} is too short a path: a worker's is as long and begins with {start}; "
                f"{len(start) + _NAMED} characters are enough"
            )
        name = hashlib.sha256((self.key + text).encode()).hexdigest()
        return Path(start + (name * (1 + left // len(name)))[:left])

    def _unpack(self, root: Path, above: Path) -> None:
        """Make the checkout, and the benchmarks in a folder."""
        root.mkdir(parents=True)
        checkout = Checkout(root)
        checkout.ask("init", "--quiet", "--initial-branch=main")
        checkout.output("unpack-objects", "-q", data=self.objects)
        checkout.ask("reset", "--quiet", "--hard", self.tree)
        checkout.ask("reset", "--quiet", self.head)  # the files stay
        above.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(self.suites)) as tar:
            files.unpack(tar, above)


def _inside(place: Place) -> Path:
    """Where benchmarks lie in the checkout, or else in the folder that holds them."""
    suites, root = place.suites.resolve(), place.checkout.root.resolve()
    return suites.relative_to(root if suites.is_relative_to(root) else suites.parent)


def _plain(about: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """A file without what tells of its machine; none of what Python keeps beside a source."""
    about.mtime, about.uid, about.gid, about.uname, about.gname = 0, 0, 0, "", ""
    return None if Path(about.name).name == "__pycache__" else about


#: Of this worker: the parcels that it unpacked, and their build variables.
_places: dict[str, tuple[Place, Mapping[str, str]]] = {}


def here(key: str) -> Place:
    """On a worker: where a parcel is unpacked; its build variables are this process's then."""
    place, given = _places[key]
    for name in variables.matching(place.checkout.build_variables):
        del os.environ[name]
    os.environ.update(given)
    return place


async def _look() -> dict[str, str] | str:
    """On a worker: what it is, or why it cannot say that."""
    try:
        return await asyncio.to_thread(identity)
    except Exception as error:  # noqa: BLE001  (told in words: dask cannot send every traceback)
        return f"{type(error).__name__}: {error}"


async def _admit(parcel: Parcel, dask_worker: Any = None) -> None:  # noqa: ANN401  (dask's worker)
    """On a worker: unpack, and take units from now on, one at a time."""
    _places[parcel.key] = await asyncio.to_thread(parcel.unpacked), parcel.given
    await dask_worker.set_resources(**{_resource(parcel.key): 1})


def _resource(key: str) -> str:
    """What a fit worker has one of, as dask calls it."""
    return f"benchproof-{key}"


def _count(key: str, cases: Sequence[Case], loops: Loops, asked: Asked) -> tuple[Measured, Loops]:
    """On a worker: measure a commit in a variant; with the plan of its loops."""
    with Crew() as crew:
        found = Measurer(here(key), cases, loops, crew).measure(asked)
    found.host = socket.gethostname()
    return found, loops


def workers(client: Any) -> set[str]:  # noqa: ANN401  (dask's, which has no types)
    """The addresses of a scheduler's workers; none while it does not answer.

    Asked of the scheduler itself: `Client.scheduler_info` returns what the client remembers, and a
    timer of dask replaces that by one without workers, between question and answer as well.
    """
    try:
        return set(client.sync(client.scheduler.identity, n_workers=-1)["workers"])
    except OSError:
        return set()


@dataclass
class Fleet:
    """The fit workers of a scheduler; leaving the `with` block gives them back.

    Attributes:
        address: of the scheduler.
        parcel: what each worker gets.
        crew: once that is stopped, nothing is waited for.
        tell: hears who is fit, and who is not and why.
    """

    address: str
    parcel: Parcel
    crew: Crew
    tell: Teller

    def __enter__(self) -> Self:
        """The fleet itself, connected.

        Raises:
            FleetError: there is no such scheduler, or no fit worker.
        """
        self._own, self._lock = identity(), threading.Lock()
        self._seen: set[str] = set()
        self._fit: set[str] = set()
        self._since = self._looked = time.monotonic()
        try:
            connect: Any = distributed.Client  # it has no types
            self._client = connect(self.address, timeout=REACH, set_as_default=False)
        except (OSError, ValueError) as error:
            raise FleetError(
                f"no scheduler of dask answers at {self.address} within {REACH} s: start one with "
                "`dask scheduler`, and `dask worker ADDRESS` on each machine"
            ) from error
        with ExitStack() as failing:
            failing.callback(self._client.close)
            if not self._admit():
                raise FleetError(
                    f"none of the {len(self._seen)} workers of {self.address} measures what this "
                    "machine would: give them the same container"
                )
            failing.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Go; what is not measured by now is not measured."""
        self._client.close()

    @property
    def size(self) -> int:
        """How many workers are fit."""
        return len(self._fit)

    def _admit(self) -> int:
        """Look at the workers that are new, or back; how many are fit now."""
        there = workers(self._client)
        self._fit &= there
        self._seen &= there
        if new := sorted(there - self._seen):
            self._seen |= set(new)
            told = self._client.run(_look, workers=new, on_error="return")
            unlike = {each: _unlike(self._own, told.get(each)) for each in new}
            for each, why in unlike.items():
                if why:
                    self.tell.line(f"{each} is left out: {why}")
            fit = [each for each in new if not unlike[each]]
            if fit:
                ended = self._client.run(_admit, self.parcel, workers=fit, on_error="return")
                for each in fit:
                    if isinstance(wrong := ended.get(each), BaseException):
                        self.tell.line(f"{each} is left out: {wrong or type(wrong).__name__}")
                    else:
                        self._fit.add(each)
            self.tell.line(f"{len(self._fit)} workers measure")
        return len(self._fit)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        """What a function gives on one of the workers; on another if that dies.

        Raises:
            FleetError: no worker has been left for a while.
            StoppedError: the crew was stopped.
            distributed.KilledWorker: four workers died of it.
        """
        submit = partial(self._client.submit, function, self.parcel.key, *arguments, pure=False,
                         resources={_resource(self.parcel.key): 1})  # fmt: skip
        future = submit()
        while True:
            try:
                return future.result(timeout=LOOK)
            except (TimeoutError, CancelledError):
                if self.crew.stopped:
                    future.cancel()
                    raise StoppedError("stopped") from None
            if self._look_after() or future.cancelled():
                future.cancel()
                future = submit()

    def _look_after(self) -> bool:
        """See who has come and gone; whether work must be given out anew, to who came.

        Raises:
            FleetError: no worker has been left for a while.
        """
        with self._lock:
            if (now := time.monotonic()) - self._looked < LOOK:
                return False
            before = set(self._fit)
            if self._admit():
                self._since = now
            elif now - self._since > PATIENCE:
                raise FleetError(
                    f"no worker has been left for {PATIENCE:.0f} s: what was measured is kept, and "
                    "the same command goes on"
                )
            self._looked = time.monotonic()
            return bool(self._fit) and not before & self._fit


def spread(
    address: str, parcel: Parcel, function: Callable[..., Any], todo: Sequence[Sequence[Any]],
    tell: Teller,
) -> Generator[tuple[int, Any]]:  # fmt: skip
    """Have a scheduler's workers call a function, each one call at a time.

    Args:
        address: of the scheduler.
        parcel: what each worker gets.
        function: takes the parcel's key before what stands in `todo`.
        todo: arguments.
        tell: hears who is fit, and who is not and why.

    Yields:
        The number of what is done, and its answer, as they come.

    Raises:
        FleetError: there is no such scheduler, or no fit worker.
    """
    with Crew() as crew, Fleet(address, parcel, crew, tell) as fleet:
        pool = ThreadPoolExecutor(max_workers=fleet.size)
        calls = {pool.submit(fleet.call, function, *each): n for n, each in enumerate(todo)}
        try:
            for done in as_completed(calls):
                yield calls[done], done.result()
        finally:
            crew.stop()
            pool.shutdown(cancel_futures=True)


def comparison(key: str, request: compare.Request) -> tuple[dict[str, Any], dict[str, Any]]:
    """On a worker: compare two commits; the document, and what is noted of where and when."""
    started, load = time.monotonic(), os.getloadavg()[0]
    document = compare.compare(request, here(key), Teller()).document
    return document, {
        "host": socket.gethostname(), "seconds": round(time.monotonic() - started, 1),
        "load": round(load, 2),
    }  # fmt: skip


def _unlike(own: dict[str, str], other: object) -> str:
    """What of a worker is not as here, in words; or nothing."""
    if not isinstance(other, dict):
        return f"it cannot say what it is ({other or type(other).__name__})"
    return "; ".join(f"{name} {other.get(name)}, here {each}"
                     for name, each in own.items() if other.get(name) != each)  # fmt: skip


class Counts:
    """Counts commits of a history on a fleet, all by one plan of loops."""

    def __init__(self, fleet: Fleet, measurer: Measurer, todo: Plan) -> None:
        """The first commit of each variant goes ahead: it makes the plan."""
        self._fleet, self._measurer = fleet, measurer
        self._first = {job.asked.impl: job.asked for job in reversed(todo.jobs)}
        self._planned = {impl: threading.Event() for impl in self._first}

    def measure(self, asked: Asked) -> Measured:
        """As `Measurer.measure`, on a worker; what was counted by another plan is counted again.

        Raises:
            FleetError: no worker is left.
            StoppedError: Ctrl-C.
        """
        loops, planned = self._measurer.loops, self._planned[asked.impl]
        if self._first[asked.impl] is not asked:
            planned.wait()
        try:
            while True:
                found, made = self._fleet.call(_count, self._measurer.cases, loops, asked)
                if loops.join(made):
                    return found  # type: ignore[no-any-return]
        except distributed.KilledWorker as error:
            return Measured().none_of(asked.keys, FAILED, str(error))
        finally:
            planned.set()
