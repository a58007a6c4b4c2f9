"""Exceptions carry their payload, and say it."""

import pytest

from driver.protocol import errors
from driver.protocol.consistency import ConsistencyLevel
from driver.protocol.kinds import OperationType, WriteType

QUORUM = ConsistencyLevel.QUORUM
RESPONSES = {"consistency": QUORUM, "required_responses": 2, "received_responses": 1}

CASES = [
    (
        errors.Unavailable("no", QUORUM, 2, 1),
        {"consistency": QUORUM, "required_replicas": 2, "alive_replicas": 1},
        "no info={consistency=QUORUM, required_replicas=2, alive_replicas=1}",
    ),
    (
        errors.ReadTimeout("late", data_retrieved=True, **RESPONSES),
        {**RESPONSES, "data_retrieved": True},
        (
            "late info={consistency=QUORUM, required_responses=2, received_responses=1, "
            "data_retrieved=True}"
        ),
    ),
    (
        errors.WriteTimeout("late", write_type=WriteType.CAS, contentions=3, **RESPONSES),
        {**RESPONSES, "write_type": WriteType.CAS, "contentions": 3},
        (
            "late info={consistency=QUORUM, required_responses=2, received_responses=1, "
            "write_type=CAS}"
        ),
    ),
    (
        errors.ReadFailure("bad", data_retrieved=False, failures=1, **RESPONSES),
        {**RESPONSES, "failures": 1, "data_retrieved": False, "error_code_map": None},
        (
            "bad info={consistency=QUORUM, required_responses=2, received_responses=1, failures=1, "
            "data_retrieved=False}"
        ),
    ),
    (
        errors.WriteFailure(
            "bad", write_type="BATCH", failures=1, error_code_map={"::1": 1}, **RESPONSES
        ),
        {**RESPONSES, "write_type": "BATCH", "error_code_map": {"::1": 1}},
        (
            "bad info={consistency=QUORUM, required_responses=2, received_responses=1, failures=1, "
            "write_type=BATCH, error_code_map={'::1': '0x0001'}}"
        ),
    ),
    (
        errors.CASWriteUnknown("who knows", **RESPONSES),
        {**RESPONSES, "message": "who knows"},
        "who knows info={consistency=QUORUM, required_responses=2, received_responses=1}",
    ),
    (
        errors.FunctionFailure("died", "ks", "f", ["int"]),
        {"keyspace": "ks", "function": "f", "arg_types": ["int"]},
        "died",
    ),
    (
        errors.AlreadyExists("ks", "t"),
        {"keyspace": "ks", "table": "t"},
        "Table 'ks.t' already exists",
    ),
    (errors.AlreadyExists("ks"), {"table": None}, "Keyspace 'ks' already exists"),
    (
        errors.PreparedQueryNotFound("unknown", b"\x01"),
        {"query_id": b"\x01"},
        "unknown",
    ),
    (
        errors.RateLimitReached(OperationType.Write, rejected_by_coordinator=True),
        {"op_type": 1, "rejected_by_coordinator": True},
        "[request_error_rate_limit_reached OpType=Write RejectedByCoordinator=True]",
    ),
    (
        errors.OperationTimedOut({"h": "slow"}, "h"),
        {"errors": {"h": "slow"}, "last_host": "h"},
        "errors={'h': 'slow'}, last_host=h",
    ),
    (errors.NoHostAvailable("none", {"h": 1}), {"errors": {"h": 1}}, "('none', {'h': 1})"),
    (
        errors.DependencyException("lz4 is missing", [ImportError("no lz4")]),
        {},
        "lz4 is missing\nImportError: no lz4",
    ),
]


@pytest.mark.parametrize(("error", "payload", "text"), CASES, ids=lambda c: type(c).__name__)
def test_an_error_has_its_payload_and_says_it(error, payload, text):
    assert {name: getattr(error, name) for name in payload} == payload
    assert str(error) == text


@pytest.mark.parametrize(
    ("error", "bases"),
    [
        (errors.ReadTimeout, (errors.Timeout, errors.RequestExecutionException)),
        (errors.WriteFailure, (errors.CoordinationFailure, errors.RequestExecutionException)),
        (
            errors.AlreadyExists,
            (errors.ConfigurationException, errors.RequestValidationException),
        ),
        (errors.SyntaxException, (errors.RequestValidationException,)),
        (errors.MarshalException, (ValueError,)),
        (errors.ProtocolException, (errors.DriverInternalError,)),
    ],
)
def test_errors_are_caught_by_what_they_are(error, bases):
    for base in (*bases, errors.DriverException):
        assert issubclass(error, base)


def test_every_exception_of_the_module_is_a_driver_exception():
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    exceptions = [cls for cls in classes if issubclass(cls, Exception)]
    assert len(exceptions) > 30
    assert all(issubclass(cls, errors.DriverException) for cls in exceptions)
