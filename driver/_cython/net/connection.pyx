"""Compiled form of driver/net/connection.py: a request out, and the answers of a read to theirs."""

import logging
import time
from collections import deque

from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM

from driver._cython.net.after_read cimport begin_read, end_read
from driver._cython.net.segmenting cimport send_by
from driver._cython.slots cimport (
    Bound,
    class_method,
    has_method,
    is_instance,
    put,
    slot_offset,
    taken,
)
from driver._cython.wire.conversation cimport encoded

from ...net import connection as pure
from ...net.errors import ConnectionException, as_exception
from ...net.loop import call_on_loop, outlive
from ...net.streams import StreamIds
from ...wire.conversation import Conversation
from ...wire.late_rows import LARGE_BODY, late_handler
from ...wire.malformed import MalformedFrameError

cdef extern from "Python.h":
    # Of bytes, how many.
    Py_ssize_t size_of "Py_SIZE"(PyObject *body) noexcept

__all__ = []

cdef object log = logging.getLogger(pure.__name__)
cdef object _append = deque.append
cdef object monotonic = time.monotonic
cdef object Connection = pure.Connection
cdef object _is_final = pure._is_final
cdef object _late_handler = late_handler
cdef Py_ssize_t _LARGE = LARGE_BODY
cdef Bound DECODE
cdef Py_ssize_t CONVERSATION = slot_offset(Connection, b"_conversation")
cdef Py_ssize_t REQUESTS = slot_offset(Connection, b"_requests")
cdef Py_ssize_t STREAMS = slot_offset(Connection, b"_streams")
cdef Py_ssize_t LOOP = slot_offset(Connection, b"_loop")
cdef Py_ssize_t TAKE_OVER = slot_offset(Connection, b"_take_over_reading")
cdef Py_ssize_t THREAD = slot_offset(Connection, b"_thread")
cdef Py_ssize_t TRANSPORT = slot_offset(Connection, b"_transport")
cdef Py_ssize_t TYPE_MAP = slot_offset(Connection, b"_user_type_map")
cdef Py_ssize_t WRITE = slot_offset(Connection, b"_write")
cdef Py_ssize_t FEATURES = slot_offset(Connection, b"features")
cdef Py_ssize_t HANDLER = slot_offset(Connection, b"handler")
cdef Py_ssize_t HEARD = slot_offset(Connection, b"heard")
cdef Py_ssize_t IS_CLOSED = slot_offset(Connection, b"is_closed")
cdef Py_ssize_t FREE = slot_offset(StreamIds, b"free")
cdef Py_ssize_t DECOMPRESSOR = slot_offset(Conversation, b"decompressor")


cdef inline PyObject *checked(object self) except NULL:
    """A connection, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Connection):
        raise TypeError(f"a Connection is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef class Receiver:
    """What an answer is for, and compiled code hands it to without a call of Python's."""

    cdef int receive(self, object response) except -1:
        raise NotImplementedError


def send_msg(self, msg, request_id, cb, result_metadata=None, handler=None):
    """Send a request, from any thread; see driver/net/connection.py."""
    return sent(self, msg, request_id, cb, result_metadata, handler)


cdef object send_over(
    object connection, object msg, object request_id, object cb, object result_metadata,
    object handler,
):
    """Send a request as the connection does it, which may be one of somebody's own."""
    if has_method(connection, "send_msg", _send_msg):
        return sent(connection, msg, request_id, cb, result_metadata, handler)
    return connection.send_msg(msg, request_id, cb, result_metadata, handler)


cdef object sent(
    object self, object msg, object request_id, object cb, object result_metadata, object handler
):
    cdef PyObject *me = checked(self)
    cdef object data
    if taken(me, IS_CLOSED) is not False:
        raise self._refusal()
    data = encoded(taken(me, CONVERSATION), msg, request_id, handler)
    if handler is None:
        handler = taken(me, HANDLER)
    (<dict?>taken(me, REQUESTS))[request_id] = (cb, result_metadata, handler)
    if (
        taken(me, IS_CLOSED) is not False
        and taken(me, REQUESTS).pop(request_id, None) is not None
    ):
        # It closed in between, and whoever closed it did not see this request any more.
        raise self._refusal()
    send_by(taken(me, WRITE), data)
    return len(data)


def receive(self, data):
    """Take bytes of the server."""
    cdef PyObject *me = checked(self)
    cdef bint is_outermost = begin_read()
    cdef Py_ssize_t answers = 0
    try:
        frames = taken(me, CONVERSATION).feed(data)
        answers = len(frames)
        hand_out(self, frames, True)
    except MalformedFrameError as error:
        self._take_malformed(error)
    finally:
        if is_outermost:
            end_read(answers)


cdef inline object part(object frame, Py_ssize_t at):
    return <object>PyTuple_GET_ITEM(frame, at)


def dispatch(self, frames, is_loop=True):
    """Decode each frame for the request that waits for it; see driver/net/connection.py."""
    checked(self)
    hand_out(self, frames, is_loop)


cdef int hand_out(object self, object frames, bint is_loop) except -1:
    cdef PyObject *me = <PyObject *>self
    # Of the request, which outlives both.
    cdef PyObject *handler, *callback
    cdef object requests, free, request, response, late, frame
    for frame in frames:
        # Each time: closing replaces or empties what is here.
        requests = taken(me, REQUESTS)
        request = (<dict?>requests).pop(part(frame, 0), None)
        if request is None:
            self._handle_unexpected(frame)
            continue
        free = taken(me, STREAMS)
        _append(taken(<PyObject *>free, FREE), part(frame, 0))
        if taken(me, HEARD) is not True:
            put(me, HEARD, True)
        callback, handler = PyTuple_GET_ITEM(request, 0), PyTuple_GET_ITEM(request, 2)
        try:
            if (
                size_of(PyTuple_GET_ITEM(frame, 4)) > _LARGE
                and getattr(<object>callback, "takes_late_rows", False)
            ):
                late = _late_handler(<object>handler)
                handler = <PyObject *>late
            response = class_method(<object>handler, "decode_message", &DECODE)(
                part(frame, 1),
                taken(me, FEATURES),
                taken(me, TYPE_MAP),
                part(frame, 0),
                part(frame, 2),
                part(frame, 3),
                part(frame, 4),
                decompressor_of(taken(me, CONVERSATION)),
                part(request, 1),
            )
        except BaseException as error:
            response = as_exception(error, f"decoding an answer of {self.endpoint}")
            outlive(error)
            self.take_undecodable(error)
        if not is_loop and not _is_final(response):
            call_on_loop(
                taken(me, LOOP), taken(me, THREAD), self._call_back, <object>callback, response
            )
            continue
        try:
            if isinstance(<object>callback, Receiver):
                (<Receiver>callback).receive(response)
            else:
                (<object>callback)(response)
        except BaseException as error:
            log.exception("The callback of a request to %s raised an exception", self.endpoint)
            outlive(error)
    return 0


def take_over_reading(self):
    """Have this thread read the answer to the request that it is about to send."""
    return takes_over_here(self)


cdef bint takes_over(object connection) except -1:
    """The same as the connection does it, which may be one of somebody's own."""
    if has_method(connection, "take_over_reading", _take_over_reading):
        return takes_over_here(connection)
    return connection.take_over_reading()


cdef bint takes_over_here(object self) except -1:
    cdef PyObject *me = checked(self)
    cdef object take_over = taken(me, TAKE_OVER)
    return take_over is not None and not <dict?>taken(me, REQUESTS) and take_over()


def read_answer(self, request_id, timeout):
    """Read until a request is answered, having taken over; see driver/net/connection.py."""
    cdef PyObject *me = checked(self)
    cdef object transport = taken(me, TRANSPORT)
    cdef object feed = taken(me, CONVERSATION).feed
    cdef object until = None if timeout is None else monotonic() + timeout
    # Its stream may be another's as soon as it is taken.
    cdef object mine = (<dict?>taken(me, REQUESTS)).get(request_id)
    cdef object frames = (), others = ()
    cdef bint is_torn = False, is_back = False
    try:
        while not frames and transport.wait_for_data(until):
            is_torn = True
            frames = transport.read(feed) or ()
            is_torn = len(frames) > 0
        if len(frames) > 1 or (frames and part(frames[0], 0) != request_id):
            others = [each for each in frames if each.stream_id != request_id]
            # Before the loop reads on: events stay in their order.
            call_on_loop(taken(me, LOOP), taken(me, THREAD), self._dispatch, others)
            frames = [each for each in frames if each.stream_id == request_id]
            is_torn = len(frames) > 0
        if others:
            transport.hand_reading_back(is_disturbed=True)
        else:
            transport.hand_reading_back()
        is_back = True
        if frames:
            hand_out(self, frames, False)
    except MalformedFrameError as error:
        is_torn = False
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._take_malformed, error)
    finally:
        if (
            is_torn
            and mine is not None
            and (<dict?>taken(me, REQUESTS)).get(request_id) is mine
        ):
            # By Ctrl-C, say: what was read is lost.
            self._break(ConnectionException("reading was interrupted", self.endpoint))
        if not is_back:
            transport.hand_reading_back()


cdef inline object decompressor_of(object conversation):
    return taken(<PyObject *>conversation, DECOMPRESSOR)


METHODS = {
    "Connection.send_msg": send_msg,
    "Connection._receive": receive,
    "Connection._dispatch": dispatch,
    "Connection.read_answer": read_answer,
    "Connection.take_over_reading": take_over_reading,
}

cdef object _send_msg = send_msg
cdef object _take_over_reading = take_over_reading
