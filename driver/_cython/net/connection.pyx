"""Compiled form of driver/net/connection.py: a request out, and the answers of a read to theirs."""

import logging
import time
from collections import deque
from os import strerror

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM

from driver._cython.net.after_read cimport begin_read, end_read
from driver._cython.net.segmenting cimport segment_by, send_by
from driver._cython.net.shared_reading cimport (
    ENDED,
    NOT_SENT,
    SIGNALLED,
    STRAY,
    Outcome,
    Seat,
    SharedReading,
)
from driver._cython.net.transport cimport (
    begin_sharing,
    end_sharing,
    leave_to_loop,
    read_alone,
    send_rest,
    shared_of,
    writes,
)
from driver._cython.slots cimport (
    FREE_THREADED,
    Bound,
    class_method,
    has_method,
    is_instance,
    put,
    slot_offset,
    taken,
)
from driver._cython.wire.conversation cimport encoded, reads_plain_frames, take_frames

from ...net import connection as pure
from ...net.errors import ConnectionException, as_exception
from ...net.loop import call_on_loop, outlive
from ...net.streams import StreamIds
from ...wire.conversation import Conversation
from ...wire.late_rows import LARGE_BODY, late_handler
from ...wire.malformed import MalformedFrameError

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident()
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
#: So many answers are handed on to the loop by threads that take over from it.
cdef Py_ssize_t MOST_STRAYS = 64
cdef Bound DECODE
cdef Py_ssize_t CONVERSATION = slot_offset(Connection, b"_conversation")
cdef Py_ssize_t REQUESTS = slot_offset(Connection, b"_requests")
cdef Py_ssize_t STREAMS = slot_offset(Connection, b"_streams")
cdef Py_ssize_t LOOP = slot_offset(Connection, b"_loop")
cdef Py_ssize_t TAKE_OVER = slot_offset(Connection, b"_take_over_reading")
cdef Py_ssize_t THREAD = slot_offset(Connection, b"_thread")
cdef Py_ssize_t TRANSPORT = slot_offset(Connection, b"_transport")
cdef Py_ssize_t TYPE_MAP = slot_offset(Connection, b"_user_type_map")
cdef Py_ssize_t VERSION = slot_offset(Connection, b"protocol_version")
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
    if isinstance(cb, Receiver) and (<Receiver>cb).seat is not None:
        (<Receiver>cb).unsent = to_send(taken(me, WRITE), data)
        if (<Receiver>cb).unsent is not None:
            return len(data)  # it leaves when the thread waits
    send_by(taken(me, WRITE), data)
    return len(data)


cdef object to_send(object method, object data):
    """What the method that a connection writes by sends, from a thread that is not the loop's.

    None if that is not known: it, or what encodes, is somebody's own.
    """
    cdef object segment = segment_by(method, data)
    if segment is not None:
        data = segment
    elif not writes(method):
        return None
    return data if type(data) is bytes else None


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


cdef bint takes_over(object connection, Receiver receiver, object request_id) except -1:
    """The same as the connection does it, which may be one of somebody's own.

    Here others who wait may be there already: then this thread reads in turn with them.
    """
    cdef PyObject *me
    cdef SharedReading shared
    cdef Seat seat
    if not has_method(connection, "take_over_reading", _take_over_reading):
        return connection.take_over_reading()
    me = checked(connection)
    if <unsigned long>taken(me, THREAD) == PyThread_get_thread_ident():
        return False  # the loop's own thread must not wait
    shared = shared_of(taken(me, TRANSPORT))
    if shared is None or not shared.own.is_open:
        if taken(me, TAKE_OVER) is None or (shared is not None and shared.own.number):
            return False  # those who shared reading before leave first
        if not begins_to_share(connection):
            return False
        shared = shared_of(taken(me, TRANSPORT))
        if shared is None or not shared.own.is_open:
            return True
    seat = Seat.__new__(Seat)
    if not shared.join(seat, request_id):
        return False
    receiver.seat = seat
    return True


cdef bint begins_to_share(object self) except -1:
    """Have this thread take over reading, and others join it if that is possible.

    A few requests may be on their way whose answers the loop waits for: they are handed on to it.
    """
    cdef PyObject *me = <PyObject *>self
    cdef object transport = taken(me, TRANSPORT)
    cdef Py_ssize_t others = len(<dict?>taken(me, REQUESTS))
    cdef int kind
    if others and (FREE_THREADED or others > MOST_STRAYS):
        return False
    if others and not reads_plain_frames(taken(me, CONVERSATION)):
        return False
    if not taken(me, TAKE_OVER)():
        return False
    kind = reads_plain_frames(taken(me, CONVERSATION))
    if kind and begin_sharing(transport, taken(me, VERSION) | 0x80, kind == 2, others) is not None:
        return True
    if others:
        transport.hand_reading_back()
    return not others


cdef bint takes_over_here(object self) except -1:
    cdef PyObject *me = checked(self)
    cdef object take_over = taken(me, TAKE_OVER)
    return take_over is not None and not <dict?>taken(me, REQUESTS) and take_over()


cdef int read_for(
    object connection, Receiver receiver, object request_id, object timeout
) except -1:
    """Read an answer, alone or in turn with others; as ``read_answer``."""
    if receiver.seat is not None:
        return read_in_turn(connection, receiver, request_id, timeout)
    connection.read_answer(request_id, timeout)
    return 0


cdef int stop_reading(object connection, Receiver receiver) except -1:
    """Have others read, after all."""
    cdef PyObject *me
    cdef Seat seat = receiver.seat
    if seat is None:
        connection.hand_reading_back()
        return 0
    me = checked(connection)
    unsent, receiver.unsent, receiver.seat = receiver.unsent, None, None
    try:
        if unsent is not None:
            taken(me, TRANSPORT).write(unsent)
    finally:
        leave(connection, seat)
    return 0


cdef int leave(object self, Seat seat) except -1:
    """Wait no more, and take the answer that came just now."""
    cdef PyObject *me = <PyObject *>self
    cdef object transport = taken(me, TRANSPORT), frames
    cdef SharedReading shared = shared_of(transport)
    if shared.leave(seat):
        try:
            leave_nothing(self, shared)
        finally:
            end_sharing(transport)
    if seat.place.frame != NULL:
        frames = []
        take_frames(
            <const unsigned char *>seat.place.frame, seat.place.size, taken(me, VERSION) | 0x80,
            frames,
        )
        hand_out(self, frames, False)
    return 0


cdef int leave_nothing(object self, SharedReading shared) except -1:
    """Hand what was read and not handed out to the conversation, and what it has to the loop."""
    cdef PyObject *me = <PyObject *>self
    cdef object frames
    if shared.own.outgoing.size or shared.own.leaving.size:
        send_rest(taken(me, TRANSPORT))
    if shared.own.received.size:
        frames = fed(self, shared)
        if frames:
            call_on_loop(taken(me, LOOP), taken(me, THREAD), self._dispatch, frames)
    return 0


cdef object fed(object self, SharedReading shared):
    """The frames in what was read and not handed out; None if it breaks the protocol."""
    cdef PyObject *me = <PyObject *>self
    try:
        return taken(me, CONVERSATION).feed(shared.take_rest())
    except MalformedFrameError as error:
        call_on_loop(taken(me, LOOP), taken(me, THREAD), self._take_malformed, error)
        return None
    except BaseException:
        lose(self)
        raise


cdef int lose(object self) except -1:
    """Close: what was read is lost, by Ctrl-C, say."""
    self._break(ConnectionException("reading was interrupted", self.endpoint))
    return 0


cdef int read_in_turn(
    object self, Receiver receiver, object request_id, object timeout
) except -1:
    cdef PyObject *me = checked(self)
    cdef object transport = taken(me, TRANSPORT)
    cdef SharedReading shared = shared_of(transport)
    cdef Seat seat = receiver.seat
    cdef object data = receiver.unsent, frames = ()
    cdef double until = -1 if timeout is None else max(<double>monotonic() + <double>timeout, 0)
    cdef Outcome outcome
    cdef bint is_left = False
    try:
        while True:
            receiver.unsent = None
            outcome = shared.wait(seat, data, until)
            if outcome == NOT_SENT:
                send_rest(transport)
            data = None
            if outcome == SIGNALLED:
                PyErr_CheckSignals()
                if not waits(self, request_id, receiver):
                    break
            elif outcome == STRAY:
                frames = take_strays(self, shared, seat, request_id)
                if frames is None:  # there is more to come, and nobody else waits for it
                    receiver.seat = None
                    is_left = True
                    shared.leave(seat)
                    read_alone(transport)
                    self.read_answer(request_id, None if until < 0 else until - monotonic())
                    break
                if frames or not shared.own.is_open:
                    break
            elif outcome != NOT_SENT:
                break
        if outcome == ENDED:
            call_on_loop(
                taken(me, LOOP), taken(me, THREAD), transport._end,
                OSError(shared.own.error, strerror(shared.own.error)) if shared.own.error else None,
            )
            end_turns(self, shared, False)
    finally:
        if not is_left:
            receiver.seat = None
            try:
                leave(self, seat)
            finally:
                if frames:
                    hand_out(self, frames, False)
    return 0


cdef int end_turns(object self, SharedReading shared, bint is_disturbed) except -1:
    """Have the loop read, and send what was left to who reads."""
    cdef object transport = taken(<PyObject *>self, TRANSPORT)
    shared.end()
    if shared.own.outgoing.size or shared.own.leaving.size:
        send_rest(transport)
    leave_to_loop(transport, is_disturbed)
    return 0


cdef object take_strays(object self, SharedReading shared, Seat seat, object request_id):
    """Have the loop see to what came that nobody waits for here; it reads on if that goes on.

    Returns:
        Frames of this thread's own answer; None if this thread goes on alone.
    """
    cdef PyObject *me = <PyObject *>self
    cdef object frames = fed(self, shared), others
    if frames is None:
        end_turns(self, shared, True)
        return ()
    if not frames and shared.own.number == 1 and seat.place.frame == NULL:
        return None
    try:
        others = [each for each in frames if each.stream_id != request_id]
        for each in others:
            shared.leave_out(each.stream_id)
            shared.strays -= each.stream_id >= 0  # events are rare
        # Before the loop reads on: events stay in their order.
        if others:
            call_on_loop(taken(me, LOOP), taken(me, THREAD), self._dispatch, others)
        frames = [each for each in frames if each.stream_id == request_id]
    except BaseException:
        lose(self)
        raise
    if shared.strays < 0 or not reads_plain_frames(taken(me, CONVERSATION)):
        end_turns(self, shared, shared.strays < 0)
    return frames


cdef inline bint waits(object self, object request_id, Receiver receiver) except -1:
    """Whether a request waits, and the connection can answer it."""
    cdef PyObject *me = <PyObject *>self
    cdef object request = (<dict?>taken(me, REQUESTS)).get(request_id)
    return (
        request is not None
        and request[0] is receiver
        and taken(me, IS_CLOSED) is False
        and not taken(me, LOOP).is_closed()
    )


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
            lose(self)
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
