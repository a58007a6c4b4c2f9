"""Results are made and ended as instances of Python's classes are, by whatever code does it."""

import gc
import sys
from typing import ClassVar

import pytest
from wire_bodies import integer, rows_result

from driver.types import UTF8Type
from driver.wire.handlers import LazyProtocolHandler, ProtocolHandler
from driver.wire.responses import LazyResultMessage, ResultMessage

VOID = integer(1)
ROWS = rows_result([("name", UTF8Type)], [[b"a"], [b"b"]])


def decode(body=VOID, handler=ProtocolHandler, stream_id=7):
    return handler.decode_message(4, None, {}, stream_id, 0, 8, body, None, None)


class Marked(ResultMessage):
    """A result with a dictionary, weak references and a finaliser."""

    ended: ClassVar[list[int]] = []

    def __del__(self):
        self.ended.append(self.mark)


@pytest.mark.parametrize("handler", [ProtocolHandler, LazyProtocolHandler])
@pytest.mark.parametrize("body", [VOID, ROWS])
def test_ended_results_give_every_reference_back(body, handler):
    class Counted:
        """Something whose references are counted."""

    value = Counted()
    decode(body, handler)  # what is kept of the first one
    gc.collect()  # what other tests left holds some None, too, and would go in between
    known = (None, False, value, ResultMessage, LazyResultMessage)
    before = [sys.getrefcount(each) for each in known]
    gc.disable()
    try:
        for _ in range(1000):
            messages = [decode(body, handler, stream_id=value) for _ in range(20)]
            messages[0].warnings = [value]
            del messages[1].kind
        del messages
        after = [sys.getrefcount(each) for each in known]
    finally:
        gc.enable()
    # So do threads that other tests left; a batch that keeps one keeps 1,000.
    assert all(abs(now - then) < 500 for now, then in zip(after, before, strict=True))
    assert after[2] == before[2]


def test_a_result_has_nothing_of_the_one_whose_memory_it_took():
    first = decode(ROWS)
    first.warnings, first.trace_id = ["old"], "old"
    del first
    second = decode()
    assert (second.kind, second.stream_id, second.is_lwt) == (1, 7, False)
    others = set(ResultMessage.__slots__) - {"kind", "stream_id", "is_lwt"}
    assert {getattr(second, name) for name in others} == {None}


def test_a_result_that_leads_to_itself_is_collected():
    message = decode(ROWS)
    assert gc.is_tracked(message)
    messages = [message, *(decode(ROWS) for _ in range(20))]
    for each in messages:
        each.custom_payload = each
    del message, messages, each
    assert gc.collect() >= 21


def test_results_of_a_class_with_more_than_slots_end_as_such():
    Marked.ended.clear()
    for mark in range(20):
        message = Marked(1)
        message.mark = mark
        message.parsed_rows = message if mark % 2 else [mark]
    del message
    gc.collect()
    assert sorted(Marked.ended) == list(range(20))


def test_a_finaliser_that_a_class_is_given_later_runs(monkeypatch):
    ended = []
    messages = [decode(stream_id=stream_id) for stream_id in range(20)]
    monkeypatch.setattr(
        ResultMessage, "__del__", lambda self: ended.append(self.stream_id), raising=False
    )
    del messages
    monkeypatch.undo()
    assert sorted(ended) == list(range(20))
    assert decode().stream_id == 7


def test_a_finaliser_may_keep_the_result(monkeypatch):
    kept = []
    message = decode(ROWS)

    def keep(self):
        kept.append(self)

    monkeypatch.setattr(ResultMessage, "__del__", keep, raising=False)
    del message
    monkeypatch.undo()
    assert list(kept[0].parsed_rows) == [("a",), ("b",)]
