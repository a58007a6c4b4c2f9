"""A handler of the protocol may be changed, and what it is then is what decodes."""

import pytest
from wire_bodies import integer, rows_result

from driver.protocol.columns import ColDesc
from driver.types import BytesType, UTF8Type
from driver.wire.handlers import LazyProtocolHandler, ProtocolHandler
from driver.wire.malformed import MalformedFrameError
from driver.wire.responses import ResultMessage

VOID = integer(1)
ROWS = rows_result([("name", UTF8Type)], [[b"a"], [b"b"]])


def decode(handler, body=VOID):
    return handler.decode_message(4, None, {}, 7, 0, 8, body, None, None)


class Other(ResultMessage):
    """Another class of results."""

    __slots__ = ()


class Reverses:
    """A column encryption policy that says of all columns that they are encrypted."""

    def contains_column(self, coldesc):
        assert isinstance(coldesc, ColDesc)
        return True

    def column_type(self, _):
        return BytesType

    def decrypt(self, _, encrypted):
        return encrypted[::-1] + b"!"


@pytest.fixture
def handler():
    """A handler that has decoded before."""

    class Handler(ProtocolHandler):
        pass

    Handler.message_types_by_opcode = dict(ProtocolHandler.message_types_by_opcode)
    for _ in range(3):
        assert type(decode(Handler)) is ResultMessage
        assert list(decode(Handler, ROWS).parsed_rows) == [("a",), ("b",)]
    return Handler


def test_its_table_of_classes_may_be_changed(handler):
    handler.message_types_by_opcode[8] = Other
    assert type(decode(handler)) is Other
    del handler.message_types_by_opcode[8]
    with pytest.raises(MalformedFrameError, match="unknown opcode"):
        decode(handler)


def test_it_may_get_another_table_of_classes(handler):
    handler.message_types_by_opcode = {8: Other}
    assert type(decode(handler)) is Other
    del handler.message_types_by_opcode
    assert type(decode(handler)) is ResultMessage


def test_it_may_get_a_policy(handler):
    handler.column_encryption_policy = Reverses()
    assert list(decode(handler, ROWS).parsed_rows) == [(b"a!",), (b"b!",)]
    handler.column_encryption_policy = None
    assert list(decode(handler, ROWS).parsed_rows) == [("a",), ("b",)]


def test_the_class_below_it_may_get_a_policy(handler, monkeypatch):
    monkeypatch.setattr(ProtocolHandler, "column_encryption_policy", Reverses())
    assert list(decode(handler, ROWS).parsed_rows) == [(b"a!",), (b"b!",)]


def test_handlers_by_turns_give_each_its_own(handler):
    handler.message_types_by_opcode[8] = Other
    for _ in range(3):
        assert type(decode(handler)) is Other
        assert type(decode(ProtocolHandler)) is ResultMessage
        assert type(decode(LazyProtocolHandler, ROWS).parsed_rows).__name__ == "LazyRows"


def test_a_table_that_is_computed_is_computed_each_time():
    class Computed(type):
        @property
        def message_types_by_opcode(cls):
            return {8: chosen}

    class Handler(ProtocolHandler, metaclass=Computed):
        pass

    for chosen in (ResultMessage, Other, ResultMessage):
        assert type(decode(Handler)) is chosen


def test_a_policy_that_is_computed_is_computed_each_time():
    policies = [None, Reverses(), None]

    class Chosen:
        def __get__(self, instance, owner):
            return policies.pop()

    class Handler(ProtocolHandler):
        column_encryption_policy = Chosen()

    rows = [decode(Handler, ROWS).parsed_rows[0][0] for _ in range(3)]
    assert rows == ["a", b"a!", "a"]
