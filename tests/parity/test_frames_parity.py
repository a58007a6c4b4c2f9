"""Frames of QUERY, EXECUTE and BATCH in both implementations: the same bytes, or the same error."""

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
        "tracing": st.booleans(),
        "custom_payload": st.one_of(
            st.none(), st.dictionaries(st.text(max_size=2), st.binary(max_size=2), max_size=2)
        ),
    },
)
VERSIONS = st.sampled_from([3, 4, 5, 6, 0x41, 0x42])


#: Of frames: the stream, whether a beta version is meant, what compresses bodies.
STREAMS = st.one_of(st.just(117), st.sampled_from([0, -1, 2**15 - 1, 2**15, -(2**15) - 1]))
COMPRESSORS = st.sampled_from([None, None, bytes.hex, lambda body: body[::-1]])
FRAMES = st.tuples(STREAMS, VERSIONS, COMPRESSORS, st.booleans())


def outcome(package, name, own, options, frame):
    """What a mounted driver makes of a message, or its error."""
    requests = import_module(f"{package.__name__}.wire.requests")
    unset = import_module(f"{package.__name__}.protocol.unset").UNSET_VALUE
    level = import_module(f"{package.__name__}.protocol.consistency").ConsistencyLevel.QUORUM
    kinds = import_module(f"{package.__name__}.protocol.kinds").BatchType
    handler = import_module(f"{package.__name__}.wire.codec").ProtocolHandler
    named = {"unset": unset, "enum": level, "logged": kinds.LOGGED, "counter": kinds.COUNTER}

    def value(given):
        if isinstance(given, dict):
            return {key: value(item) for key, item in given.items()}
        if isinstance(given, list | tuple):
            return type(given)(map(value, given))
        return named.get(given, given) if isinstance(given, str) else given

    if name == "ScyllaExecuteMessage":
        *own, metadata_id, block = own
        plain = requests.ExecuteMessage(*value(own), consistency_level=1)
        query = import_module(f"{package.__name__}.wire.requests.query")
        message = query.ScyllaExecuteMessage.of(plain, value(metadata_id), block)
    else:
        message = getattr(requests, name)(*value(own), consistency_level=1)
    for option, chosen in options.items():
        setattr(message, option, value(chosen))
    try:
        return handler.encode_message(message, *frame)
    except Exception as error:  # noqa: BLE001  (any error is an outcome to compare)
        return type(error).__name__, str(error)


def usual(version):
    """The frame of a connection without compression."""
    return 117, version, None, False


@example("x\udc80", {"consistency_level": 1}, usual(5))
@example(b"bytes", {"consistency_level": 1}, usual(4))
@example("é" * 40, {"consistency_level": 1, "paging_state": b""}, (117, 4, bytes.hex, True))
@given(st.one_of(st.text(max_size=8), BYTES), OPTIONS, FRAMES)
def test_queries(pure, compiled, text, options, frame):
    wanted = outcome(pure, "QueryMessage", (text,), options, frame)
    assert outcome(compiled, "QueryMessage", (text,), options, frame) == wanted


@given(st.one_of(st.binary(max_size=8), BYTES), BYTES, OPTIONS, FRAMES)
def test_executions(pure, compiled, query_id, metadata_id, options, frame):
    options = {**options, "result_metadata_id": metadata_id}
    wanted = outcome(pure, "ExecuteMessage", (query_id, None), options, frame)
    assert outcome(compiled, "ExecuteMessage", (query_id, None), options, frame) == wanted


BLOCK = st.one_of(st.none(), st.integers(0, 255), NUMBERS)


@example(b"id", b"", 0xA3, {"now_in_seconds": 1}, usual(5))
@example(b"id", b"metadata", 0, {"tracing": True}, (117, 4, bytes.hex, True))
@given(st.one_of(st.binary(max_size=8), BYTES), BYTES, BLOCK, OPTIONS, FRAMES)
def test_executions_on_scylladb(pure, compiled, query_id, metadata_id, block, options, frame):
    own = (query_id, None, metadata_id, block)
    wanted = outcome(pure, "ScyllaExecuteMessage", own, options, frame)
    assert outcome(compiled, "ScyllaExecuteMessage", own, options, frame) == wanted


ENTRIES = st.lists(
    st.one_of(
        st.tuples(
            st.one_of(st.booleans(), st.integers(0, 1)),
            st.one_of(st.text(max_size=4), BYTES),
            st.one_of(st.lists(VALUE, max_size=3), st.tuples(VALUE, VALUE), st.just(())),
        ),
        st.tuples(st.just(True), st.binary(max_size=4), st.lists(st.binary(), max_size=3)),
        st.tuples(st.just(False), st.text(max_size=4), st.just(())),
    ),
    max_size=3,
)
OF_BATCHES = st.fixed_dictionaries(
    {},
    optional={
        "consistency_level": NUMBERS,
        "serial_consistency_level": NUMBERS,
        "timestamp": NUMBERS,
        "keyspace": st.one_of(st.none(), st.text(max_size=3)),
        "now_in_seconds": NUMBERS,
        "tracing": st.booleans(),
    },
)


@given(
    st.one_of(st.sampled_from(["logged", "counter"]), st.none()),
    st.one_of(ENTRIES, ENTRIES.map(tuple)), OF_BATCHES, FRAMES,
)  # fmt: skip
def test_batches(pure, compiled, kind, entries, options, frame):
    wanted = outcome(pure, "BatchMessage", (kind, entries), options, frame)
    assert outcome(compiled, "BatchMessage", (kind, entries), options, frame) == wanted


@pytest.mark.parametrize("count", [65_535, 65_536])
@pytest.mark.parametrize("version", [4, 5])
def test_as_many_values_as_there_can_be(pure, compiled, count, version):
    options = {"query_params": [None] * count, "result_metadata_id": b"m"}
    wanted = outcome(pure, "ExecuteMessage", (b"id", None), options, usual(version))
    assert outcome(compiled, "ExecuteMessage", (b"id", None), options, usual(version)) == wanted


@pytest.mark.parametrize("count", [65_535, 65_536])
def test_as_many_queries_as_there_can_be(pure, compiled, count):
    entries = [(True, b"id", ())] * count
    wanted = outcome(pure, "BatchMessage", ("logged", entries), {}, usual(4))
    assert outcome(compiled, "BatchMessage", ("logged", entries), {}, usual(4)) == wanted


@pytest.mark.parametrize("size", [65_535, 65_536])
def test_the_longest_ids(pure, compiled, size):
    for ids in ((b"i" * size, b"m"), (b"i", b"m" * size)):
        options = {"result_metadata_id": ids[1]}
        wanted = outcome(pure, "ExecuteMessage", (ids[0], None), options, usual(5))
        assert outcome(compiled, "ExecuteMessage", (ids[0], None), options, usual(5)) == wanted


@pytest.mark.parametrize("slot", ["query", "query_params", "fetch_size", "tracing", "options"])
def test_what_was_deleted_from_a_message_is_missing_in_both(pure, compiled, slot):
    outcomes = []
    for package in (pure, compiled):
        message = import_module(f"{package.__name__}.wire.requests").QueryMessage("q", 1)
        delattr(message, slot)
        handler = import_module(f"{package.__name__}.wire.codec").ProtocolHandler
        with pytest.raises(AttributeError, match=slot) as raised:
            handler.encode_message(message, *usual(4))
        outcomes.append(str(raised.value))
    assert outcomes[0] == outcomes[1]


def test_a_subclass_may_say_something_else(pure, compiled):
    frames = []
    for package in (pure, compiled):
        base = import_module(f"{package.__name__}.wire.requests").QueryMessage
        kind = type("Other", (base,), {"query": property(lambda _: "another text")})
        message = kind.__new__(kind)
        base.query.__set__(message, "a text")
        for name in base.__mro__[1].__slots__:
            setattr(message, name, None)
        message.consistency_level = 1
        handler = import_module(f"{package.__name__}.wire.codec").ProtocolHandler
        frames.append(handler.encode_message(message, *usual(4)))
    assert frames[0] == frames[1]
    assert b"another text" in frames[0]
