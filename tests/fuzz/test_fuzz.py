"""What was fuzzed stays right: inputs that reached something, and those that broke a rule once."""

import logging
import sys
import tracemalloc
from random import Random

import pytest
from fuzz.targets import FINDS, TARGETS, corpus, finds

from driver.wire import compression

#: Calls of functions that an input may cost, beside so many for each of its bytes: what grows with
#: the square of the length of an input of 4,096 bytes takes millions.
CALLS, CALLS_A_BYTE = 60_000, 150
#: Bytes of memory, likewise; `driver.protocol.limits` allows half of it.
MEMORY, MEMORY_A_BYTE = 4_000_000, 1024


@pytest.fixture(autouse=True)
def quiet():
    """Of hostile inputs nothing has to be logged."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def check(request):
    check = TARGETS[request.param].check()
    for seed in TARGETS[request.param].first():  # what is imported late is there now
        check(seed)
    return check


def named(names):
    return pytest.mark.parametrize(("check", "name"), [(n, n) for n in names], indirect=["check"])


@named(TARGETS)
def test_seeds_and_the_corpus_break_no_rule(check, name):
    kept = corpus(name)
    assert kept
    for data in (*TARGETS[name].first(), *kept):
        check(data)


@pytest.mark.parametrize(
    ("check", "find"),
    [
        pytest.param(name, find, id=f"{name}-{find.name}")
        for name in TARGETS
        for find in finds(name)
    ],
    indirect=["check"],
)
def test_what_broke_a_rule_once_does_so_no_more(check, find):
    check(find.read_bytes())


@pytest.mark.parametrize(("check", "find"), [("conversation", "lz4-of-another-time")],
                         indirect=["check"])  # fmt: skip
def test_what_was_compressed_before_changes_no_answer(check, find):
    data, random = (FINDS / "conversation" / find).read_bytes(), Random(1)
    for _ in range(300):
        compression.segment_compress(random.randbytes(random.randrange(300)))
        check(data)


@named(TARGETS)
def test_work_is_linear_in_the_length_of_an_input(check, name):
    calls = 0

    def count(_frame, event, _argument):
        nonlocal calls
        calls += event in {"call", "c_call"}

    for data in sorted(corpus(name), key=len)[-20:]:
        calls = 0
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            check(data)
        finally:
            sys.setprofile(before)
        assert calls < CALLS + CALLS_A_BYTE * len(data), data


@named(TARGETS)
def test_memory_is_bounded_by_the_length_of_an_input(check, name):
    for data in sorted(corpus(name), key=len)[-20:]:
        tracemalloc.start()
        try:
            check(data)
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert most < MEMORY + MEMORY_A_BYTE * len(data), data
