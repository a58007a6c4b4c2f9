"""Every error code becomes its message class and an exception that carries the payload."""

import pytest
from wire_bodies import inet_addr, integer, short, string

from driver.protocol import errors as exceptions
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.kinds import WriteType
from driver.wire.codec import ProtocolHandler
from driver.wire.features import ProtocolFeatures
from driver.wire.responses.errors import ERRORS_BY_CODE

QUORUM = ConsistencyLevel.QUORUM
RESPONSES = short(4) + integer(1) + integer(2)
COUNTED = {"consistency": QUORUM, "received_responses": 1, "required_responses": 2}
FAILED = {**COUNTED, "failures": 3, "error_code_map": None}

# code: (payload in v4, exception, its attributes)
CASES = {
    0x0000: (b"", exceptions.ServerError, {}),
    0x000A: (b"", exceptions.ProtocolException, {}),
    0x0100: (b"", exceptions.AuthenticationFailed, {}),
    0x1000: (
        short(4) + integer(3) + integer(2),
        exceptions.Unavailable,
        {"consistency": QUORUM, "required_replicas": 3, "alive_replicas": 2},
    ),
    0x1001: (b"", exceptions.Overloaded, {}),
    0x1002: (b"", exceptions.IsBootstrapping, {}),
    0x1003: (b"", exceptions.TruncateError, {}),
    0x1100: (
        RESPONSES + string("BATCH_LOG"),
        exceptions.WriteTimeout,
        {**COUNTED, "write_type": WriteType.BATCH_LOG},
    ),
    0x1200: (RESPONSES + b"\x01", exceptions.ReadTimeout, {**COUNTED, "data_retrieved": True}),
    0x1300: (
        RESPONSES + integer(3) + b"\x00",
        exceptions.ReadFailure,
        {**FAILED, "data_retrieved": False},
    ),
    0x1400: (
        string("ks") + string("f") + short(1) + string("int"),
        exceptions.FunctionFailure,
        {"keyspace": "ks", "function": "f", "arg_types": ["int"]},
    ),
    0x1500: (
        RESPONSES + integer(3) + string("SIMPLE"),
        exceptions.WriteFailure,
        {**FAILED, "write_type": WriteType.SIMPLE},
    ),
    0x1600: (b"", exceptions.CDCWriteFailure, {}),
    0x1700: (RESPONSES, exceptions.CASWriteUnknown, COUNTED),
    0x2000: (b"", exceptions.SyntaxException, {}),
    0x2100: (b"", exceptions.Unauthorized, {}),
    0x2200: (b"", exceptions.InvalidRequest, {}),
    0x2300: (b"", exceptions.ConfigurationException, {}),
    0x2400: (
        string("ks") + string("t"),
        exceptions.AlreadyExists,
        {"keyspace": "ks", "table": "t"},
    ),
    0x2500: (short(2) + b"id", exceptions.PreparedQueryNotFound, {"query_id": b"id"}),
}


def decode(code, payload, version=4, features=None, words="words"):
    body = integer(code) + string(words) + payload
    return ProtocolHandler.decode_message(version, features, {}, 0, 0, 0x00, body, None, None)


def test_every_code_of_the_specifications_is_tested():
    assert set(CASES) == set(ERRORS_BY_CODE)


@pytest.mark.parametrize("code", CASES, ids=hex)
def test_a_code_becomes_its_exception_with_its_payload(code):
    payload, exception, attributes = CASES[code]
    message = decode(code, payload)
    error = message.to_exception()
    assert type(message) is ERRORS_BY_CODE[code]
    assert type(error) is exception
    assert {name: getattr(error, name) for name in attributes} == attributes


@pytest.mark.parametrize("code", sorted(set(CASES) - {0x2400}), ids=hex)
def test_an_exception_says_code_summary_and_the_servers_words(code):
    text = str(decode(code, CASES[code][0]).to_exception())
    assert f"code={code:04x} [{ERRORS_BY_CODE[code].summary}]" in text
    assert 'message="words"' in text


@pytest.mark.parametrize(
    ("code", "tail"), [(0x1300, b"\x01"), (0x1500, string("CAS"))], ids=["read", "write"]
)
def test_v5_failures_have_a_reason_for_each_replica(code, tail):
    reasons = integer(2) + inet_addr("10.0.0.1") + short(1) + inet_addr("::1") + short(5)
    error = decode(code, RESPONSES + reasons + tail, version=5).to_exception()
    assert error.failures == 2
    assert error.error_code_map == {"10.0.0.1": 1, "::1": 5}


def test_only_a_cas_in_v5_counts_contentions():
    cas = RESPONSES + string("CAS")
    assert decode(0x1100, cas + short(4), version=5).to_exception().contentions == 4
    assert decode(0x1100, cas, version=4).to_exception().contentions is None
    simple = RESPONSES + string("SIMPLE")
    assert decode(0x1100, simple, version=5).to_exception().contentions is None


def test_a_write_type_from_the_future_does_not_hide_the_error():
    error = decode(0x1100, RESPONSES + string("QUANTUM")).to_exception()
    assert error.write_type == "QUANTUM"
    assert "QUANTUM" in str(error)


def test_an_unknown_code_is_a_failed_execution():
    message = decode(0x7777, b"whatever")
    assert (message.code, message.info, message.summary) == (0x7777, None, "Unknown")
    assert type(message.to_exception()) is exceptions.RequestExecutionException


def test_the_rate_limit_error_has_the_code_that_the_server_announced():
    features = ProtocolFeatures(rate_limit_error=-7)
    error = decode(-7, b"\x00\x01", features=features).to_exception()
    assert type(error) is exceptions.RateLimitReached
    assert (error.op_type, error.rejected_by_coordinator) == (0, True)


def test_an_operation_from_the_future_does_not_hide_the_rate_limit():
    features = ProtocolFeatures(rate_limit_error=-7)
    error = decode(-7, b"\x6d\x00", features=features).to_exception()
    assert type(error) is exceptions.RateLimitReached
    assert error.op_type == 109
    assert "OpType=109" in str(error)


def test_a_beta_version_without_its_flag_can_be_told_apart():
    words = "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset"
    assert decode(0x000A, b"", words=words).is_beta_protocol_error
    assert not decode(0x000A, b"").is_beta_protocol_error


def test_an_error_prints_as_one_line():
    assert str(decode(0x2200, b"")) == (
        '<Error from server: code=2200 [Invalid query] message="words">'
    )
