"""The meters, held against functions whose costs are known."""

import ast
import ctypes
import functools
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchproof.bench import environment
from benchproof.meters import METERS, allocations, callgrind, instructions, wall
from benchproof.meters.counts import Counts, fresh_loop
from benchproof.variants import UNNAMED

ROOT = Path(__file__).resolve().parents[2]
needs_valgrind = pytest.mark.skipif(
    bool(instructions.why_not()), reason=f"instructions: {instructions.why_not()}"
)
needs_memray = pytest.mark.skipif(bool(allocations.why_not()), reason="memray is not installed")


def nothing():
    pass


def two_objects(kind=object):
    return kind(), kind()


def grown_list():
    return list(range(1000, 1010))


@needs_memray
@pytest.mark.parametrize("counts", [Counts(4, 1, 2), Counts(16, 8, 16), Counts(64, 32, 64)])
def test_a_function_that_does_nothing_allocates_nothing(counts):
    assert allocations.measure(nothing, counts) == (0, 0, 0)


@needs_memray
def test_allocations_and_bytes_are_those_of_the_objects():
    measured = allocations.measure(two_objects, Counts(8, 4, 8))
    assert measured == (2, 2 * sys.getsizeof(object()), 0)


@needs_memray
def test_allocations_do_not_depend_on_the_loop_counts():
    counts = [Counts(8, 1, 2), Counts(8, 4, 8), Counts(64, 32, 64)]
    assert len({allocations.measure(grown_list, each) for each in counts}) == 1


class Owner:
    """Holds what it is given; 48 bytes, without a dictionary."""

    __slots__ = ("held", "next")


def leaks_one_object(chain=Owner()):  # noqa: B008  (a place that lives on is the point)
    """Each call leaves one object of 48 bytes behind, as a linked list that nobody walks."""
    owner = Owner()
    owner.held, owner.next = None, getattr(chain, "next", None)
    chain.next = owner


def leaks_a_cycle_that_the_collector_finds():
    owner = Owner()
    owner.held = owner


#: An `INCREF` without its `DECREF`, as a mistake in C makes it.
one_too_many = ctypes.pythonapi.Py_IncRef
one_too_many.argtypes, one_too_many.restype = [ctypes.py_object], None


def leaks_a_reference_to_a_new_object(keep=one_too_many):
    keep(Owner())


def leaks_a_reference_to_an_object_that_lives_anyway(keep=one_too_many, owner=Owner()):  # noqa: B008
    keep(owner)


@functools.lru_cache(maxsize=256)
def cached(key):
    return bytes(64 + key % 2)


def fills_a_cache(keys=itertools.count()):  # noqa: B008  (the same)
    cached(next(keys))


def retained_alone(*calls):
    """Bytes that live on after each of some calls, by a process that does nothing else.

    As in use: in this one, tests that ran before leave blocks that come and go.
    """
    names = [call.__name__ for call in calls]
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.harness import test_meters as here\n"
        f"for name in {names!r}:\n"
        "    counts = here.Counts(64, 32, 64)\n"
        "    print(here.allocations.measure(getattr(here, name), counts)[2])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


@needs_memray
def test_an_object_that_lives_on_after_each_call_is_counted():
    assert retained_alone(leaks_one_object) == [sys.getsizeof(Owner())]


@needs_memray
@pytest.mark.parametrize("counts", [Counts(2, 1, 2), Counts(64, 32, 64)])
def test_what_the_collector_frees_does_not_live_on(counts):
    number, _, retained = allocations.measure(leaks_a_cycle_that_the_collector_finds, counts)
    assert (number, retained) == (1, 0)


@needs_memray
def test_a_cache_that_is_full_at_the_second_look_is_no_leak():
    cached.cache_clear()
    assert allocations.measure(fills_a_cache, Counts(64, 32, 64))[2] == 0
    assert cached.cache_info().currsize == 256


@needs_memray
def test_a_reference_too_many_is_seen_by_what_it_keeps_alive_and_else_is_not():
    found = retained_alone(
        leaks_a_reference_to_a_new_object, leaks_a_reference_to_an_object_that_lives_anyway
    )
    assert found == [sys.getsizeof(Owner()), 0]


@needs_memray
def test_the_profile_function_of_memray_does_not_outlive_its_measurement():
    allocations.measure(nothing, Counts(2, 1, 2))
    assert sys.getprofile() is None


PROBE = """
import sys
sys.path.append({root!r})
from benchproof.meters import instructions
from benchproof.meters.counts import Counts

def add(a=1, b=2):
    return a + b

def add_thrice(a=1, b=2):
    add(); add(); add()

def build(n=20):
    return [str(i) for i in range(n)]

for call in (add, add_thrice, build):
    for few, many in ((64, 128), (128, 256), (128, 512)):
        print(instructions.measure(call, Counts(512, few, many)))
"""


def count(folder, **more):
    """Per call, by function and pair of loop counts, in a process under callgrind."""
    for old in folder.glob("cg.out*"):
        old.unlink()
    probe = folder / "probe.py"
    probe.write_text(PROBE.format(root=str(ROOT)))
    command = instructions.command([sys.executable, "-P", str(probe)], folder, **more)
    answer = subprocess.run(
        command, env=environment(UNNAMED, None), check=True, capture_output=True, text=True
    )
    rounds = [ast.literal_eval(line) for line in answer.stdout.splitlines()]
    assert [len(each) for each in rounds] == [instructions.ROUNDS] * 9
    dumps = [instructions.read(folder, each) for each in rounds]
    spans = [Counts(512, 64, 128), Counts(512, 128, 256), Counts(512, 128, 512)] * 3
    return [span.per_call(pair) for span, pair in zip(spans, dumps, strict=True)]


@pytest.mark.parametrize("lost", [None, 1, 4])
def test_a_count_of_which_a_dump_is_lost_is_none(tmp_path, lost):
    for index in (1, 2, 3, 4):
        text = "desc: Trigger: --dump-before=getpgrp\n"
        # A disk that fills up cuts a dump off, or keeps it away.
        text += "" if index == lost == 1 else f"summary: {100 * index}\n"
        if index != lost or lost == 1:
            (tmp_path / f"cg.out.{index}").write_text(text)
    assert instructions.read(tmp_path, [(1, 2), (3, 4)]) == (None if lost else (100, 200))


@needs_valgrind
@pytest.mark.slow
def test_instructions_are_additive_and_the_same_in_every_run(tmp_path):
    first, again = (count(tmp_path) for _ in range(2))
    assert first == again
    add, thrice, build = first[0:3], first[3:6], first[6:9]
    for per_call in (add, thrice, build):
        # Double and quadruple loops cost double and quadruple: nothing but calls is counted.
        assert max(per_call) - min(per_call) <= 2 + 0.005 * per_call[0]
    assert 3 * 20 < thrice[0] < 5 * add[0]
    assert build[0] > 10 * add[0]


@needs_valgrind
@pytest.mark.slow
@pytest.mark.skipif(not callgrind.can_start_late(), reason="callgrind counts from the start here")
def test_counts_are_the_same_whether_callgrind_is_switched_on_late_or_counts_from_the_start(
    tmp_path,
):
    late, early = (count(tmp_path, from_start=each) for each in (False, True))
    # Two functions that allocate nothing: to the digit. What one allocates depends on the heap.
    assert late[:6] == early[:6]
    assert late[6:] == pytest.approx(early[6:], rel=0.001)


def test_where_callgrind_cannot_be_switched_on_it_counts_from_the_start(monkeypatch, tmp_path):
    monkeypatch.setattr(callgrind, "can_start_late", lambda: True)
    assert callgrind.OFF in instructions.command(["python"], tmp_path)
    assert callgrind.OFF not in instructions.command(["python"], tmp_path, from_start=True)
    monkeypatch.setattr(callgrind, "can_start_late", lambda: False)
    assert callgrind.OFF not in instructions.command(["python"], tmp_path)


def test_a_page_that_may_not_be_run_or_another_processor_is_no_error(monkeypatch):
    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(callgrind.mmap, "mmap", forbidden)
    assert callgrind._switch.__wrapped__() is None
    monkeypatch.setattr(callgrind.platform, "machine", lambda: "aarch64")
    assert callgrind._switch.__wrapped__() is None


AFTER_A_THREAD = """
import sys, threading
sys.path.append({root!r})
from benchproof.meters import instructions
from benchproof.meters.counts import Counts

def work():
    sum(range(200_000))

for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    print(instructions.measure(int, Counts(2, 1, 2)))
"""


@needs_valgrind
@pytest.mark.slow
def test_what_a_thread_did_before_is_in_no_count(tmp_path):
    probe = tmp_path / "probe.py"
    probe.write_text(AFTER_A_THREAD.format(root=str(ROOT)))
    command = instructions.command([sys.executable, "-P", str(probe)], tmp_path)
    answer = subprocess.run(
        command, env=environment(UNNAMED, None), check=True, capture_output=True, text=True
    )
    for line in answer.stdout.splitlines():
        totals = instructions.read(tmp_path, ast.literal_eval(line))
        assert max(totals) < 50_000, totals


def test_a_dump_that_is_not_ours_is_not_read(tmp_path):
    assert instructions.read_dump(tmp_path, 1) is None
    (tmp_path / "cg.out.1").write_text("desc: Trigger: Program termination\nsummary: 5\n")
    assert instructions.read_dump(tmp_path, 1) is None


def test_the_summary_is_read_and_not_the_totals(tmp_path):
    text = "desc: Trigger: --dump-before=getpgrp\nevents: Ir\nsummary: 5\n\ntotals: 41\n"
    (tmp_path / "cg.out.1").write_text(text)
    assert instructions.read_dump(tmp_path, 1) == 5


def test_a_machine_without_valgrind_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(instructions.shutil, "which", lambda _: None)
    assert "apt-get install valgrind" in instructions.why_not.__wrapped__()


def test_a_machine_without_memray_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(allocations, "find_spec", lambda _: None)
    assert "pip install memray" in allocations.why_not.__wrapped__()


@pytest.mark.parametrize(
    ("wrong", "believed"), [({3}, True), ({3, 5}, False)], ids=["once", "twice"]
)
def test_a_value_that_the_scheduler_contradicts_is_taken_once_more(monkeypatch, wrong, believed):
    readings = iter(range(1000))
    monkeypatch.setattr(wall, "thread_time", lambda: 60.0 if next(readings) in wrong else 0.0)
    if believed:
        assert len(wall.measure(nothing, 10)) == wall.VALUES
    else:
        with pytest.raises(wall.ClockError):
            wall.measure(nothing, 10)


def test_wall_gives_its_values_and_leaves_the_collector_on():
    import gc

    values = wall.measure(nothing, 10)
    assert len(values) == wall.VALUES
    assert min(values) > 0
    assert gc.isenabled()


@pytest.mark.parametrize(("lasts", "values"), [(1e-5, wall.VALUES), (0.001, 9), (0.1, 2)])
def test_a_call_that_lasts_longer_than_a_value_should_is_timed_less_often(
    monkeypatch, lasts, values
):
    now = [0.0]
    for clock in ("perf_counter", "thread_time", "_steady"):
        monkeypatch.setattr(wall, clock, lambda: now[0])

    def call():
        now[0] += lasts

    assert wall.measure(call, 1) == pytest.approx([lasts] * values)


def test_what_comes_before_each_loop_costs_values_too(monkeypatch):
    now, renewed = [0.0], []
    for clock in ("perf_counter", "thread_time", "_steady"):
        monkeypatch.setattr(wall, clock, lambda: now[0])

    def renew():
        now[0] += 0.5
        renewed.append(now[0])

    def call():
        now[0] += 1e-6

    assert len(wall.measure(call, 1, renew)) == wall.FEWEST_VALUES
    assert len(renewed) == 1 + wall.FEWEST_VALUES


def test_a_value_that_was_disturbed_costs_no_others(monkeypatch):
    now, calls = [0.0], iter(range(1000))
    for clock in ("perf_counter", "thread_time", "_steady"):
        monkeypatch.setattr(wall, clock, lambda: now[0])

    def call():
        now[0] += 0.5 if next(calls) == wall.WARM_UP + 3 else 1e-6

    assert len(wall.measure(call, 1)) == wall.VALUES


def test_loops_make_a_value_last_long_enough():
    assert wall.loops_for(wall.VALUE_TIME / 100) == 100
    assert wall.loops_for(10 * wall.VALUE_TIME) == 1


def test_each_case_gets_a_loop_of_its_own():
    one, other = fresh_loop(), fresh_loop()
    assert one.__code__ is not other.__code__
    seen = []
    one(lambda: seen.append(1), 3)
    assert seen == [1, 1, 1]


def test_every_meter_has_a_unit_and_a_task():
    assert list(METERS) == [
        "wall", "instructions", "allocations", "bytes", "retained", "memory", "peakmemory",
        "tail", "processor", "syscalls", "track",
    ]  # fmt: skip
    assert json.dumps([vars(each) | {"write": each.write(1.0)} for each in METERS.values()])
