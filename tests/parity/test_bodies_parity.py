"""The bodies of QUERY and EXECUTE in both implementations: the same bytes, or the same error."""

import io
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

NUMBERS = st.one_of(
    st.none(),
    st.integers(-3, 11),
    st.integers(),
    st.booleans(),
    st.sampled_from([2**15, 2**16 - 1, 2**16, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, 2**63, 1.5]),
)
BYTES = st.one_of(st.binary(max_size=5), st.none(), st.builds(bytearray, st.binary(max_size=2)))
VALUE = st.one_of(BYTES, st.just("unset"), st.just("enum"), st.integers(0, 1))
VALUES = st.one_of(
    st.none(),
    st.lists(VALUE, max_size=4),
    st.lists(VALUE, max_size=4).map(tuple),
    st.dictionaries(st.text(max_size=2), VALUE, max_size=2),
)
OPTIONS = st.fixed_dictionaries(
    {
        "consistency_level": st.one_of(st.integers(0, 10), st.just("enum"), NUMBERS),
        "serial_consistency_level": st.one_of(st.none(), NUMBERS),
        "fetch_size": st.one_of(st.just(5000), NUMBERS),
        "paging_state": st.one_of(st.none(), BYTES, st.text(max_size=2)),
        "timestamp": NUMBERS,
        "query_params": VALUES,
    },
    optional={
        "skip_meta": st.booleans(),
        "keyspace": st.one_of(st.none(), st.text(max_size=3)),
        "now_in_seconds": NUMBERS,
    },
)
VERSIONS = st.sampled_from([3, 4, 5, 6, 0x41, 0x42])


def outcome(package, name, own, options, version):
    """What a message of a mounted driver writes behind what is there already."""
    requests = import_module(f"{package.__name__}.wire.requests")
    unset = import_module(f"{package.__name__}.protocol.unset").UNSET_VALUE
    level = import_module(f"{package.__name__}.protocol.consistency").ConsistencyLevel.QUORUM
    named = {"unset": unset, "enum": level}

    def value(given):
        return named.get(given, given) if isinstance(given, str) else given

    message = getattr(requests, name)(*own, consistency_level=1)
    for option, chosen in options.items():
        if isinstance(chosen, dict):
            made = {key: value(item) for key, item in chosen.items()}
        elif isinstance(chosen, list | tuple):
            made = type(chosen)(map(value, chosen))
        else:
            made = value(chosen)
        setattr(message, option, made)
    f = io.BytesIO(b"123456789")
    f.seek(9)
    try:
        message.send_body(f, version)
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)
    return f.getvalue()


@example("x\udc80", {"consistency_level": 1}, 5)
@example(b"bytes", {"consistency_level": 1}, 4)
@given(st.one_of(st.text(max_size=8), BYTES), OPTIONS, VERSIONS)
def test_queries(pure, compiled, text, options, version):
    wanted = outcome(pure, "QueryMessage", (text,), options, version)
    assert outcome(compiled, "QueryMessage", (text,), options, version) == wanted


@given(st.one_of(st.binary(max_size=8), BYTES), BYTES, OPTIONS, VERSIONS)
def test_executions(pure, compiled, query_id, metadata_id, options, version):
    options = {**options, "result_metadata_id": metadata_id}
    wanted = outcome(pure, "ExecuteMessage", (query_id, None), options, version)
    assert outcome(compiled, "ExecuteMessage", (query_id, None), options, version) == wanted


@pytest.mark.parametrize("count", [65_535, 65_536])
@pytest.mark.parametrize("version", [4, 5])
def test_as_many_values_as_there_can_be(pure, compiled, count, version):
    options = {"query_params": [None] * count, "result_metadata_id": b"m"}
    wanted = outcome(pure, "ExecuteMessage", (b"id", None), options, version)
    assert outcome(compiled, "ExecuteMessage", (b"id", None), options, version) == wanted


@pytest.mark.parametrize("size", [65_535, 65_536])
def test_the_longest_ids(pure, compiled, size):
    for ids in ((b"i" * size, b"m"), (b"i", b"m" * size)):
        options = {"result_metadata_id": ids[1]}
        wanted = outcome(pure, "ExecuteMessage", (ids[0], None), options, 5)
        assert outcome(compiled, "ExecuteMessage", (ids[0], None), options, 5) == wanted
