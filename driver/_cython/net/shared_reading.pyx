"""Threads that wait for answers over one connection, and read it in turn without Python's lock.

One of them reads, and hands out the answers that come; with its own it goes on, and another reads.
Until then nobody needs the interpreter's lock, which each takes once, to decode its own answer:
else the loop's thread would need it, too, and be woken for every read. What a thread sends leaves
on its way to waiting, when it gives that lock up anyway.

Those whose answers come with one read go on one after the other: all at once they would queue for
the interpreter's lock, and each be put to sleep and woken once more. Each wakes the next one when
it has that lock, and the last one wakes somebody to read on. What they send meanwhile leaves in
one piece then. Where one waits long for that lock, since a thread computes, all go on at once for
some time.

Only what is usual is read here: whole frames of protocols 3 and 4, and whole segments of whole
frames without compression of protocol 5, for those who wait. At anything else the thread that
reads stops, and leaves what it has read to the methods of the connection.

All that threads share is under one lock, which nobody keeps for longer than it takes to hand
frames out; another one is held to send. Long, because who may touch what, and with which of them,
is told in one place.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

from driver._cython.clocks cimport driver_now
from driver._cython.net.calls cimport (
    driver_errno,
    driver_recv,
    driver_send,
    driver_wait,
    driver_would_wait,
)
from driver._cython.types.marshal cimport read_int16, read_int32
from driver._cython.wire.checksums cimport (
    crc24,
    crc32_of_payload,
    little_endian,
    make_checksums,
)

from ...net.loop import SLICE
from ...wire.segments import CRC24_INIT, CRC24_POLY, CRC32_INITIAL

cdef extern from "Python.h":
    PyThread_type_lock PyThread_allocate_lock()
    void PyThread_free_lock(PyThread_type_lock lock)
    int PyThread_acquire_lock(PyThread_type_lock lock, int waits) nogil
    int PyThread_acquire_lock_timed(
        PyThread_type_lock lock, long long microseconds, int ends_by_signal
    ) nogil
    void PyThread_release_lock(PyThread_type_lock lock) nogil
    int PY_LOCK_ACQUIRED, PY_LOCK_FAILURE

__all__ = []

make_checksums(CRC24_INIT, CRC24_POLY, CRC32_INITIAL)

cdef enum:
    HEADER = 9
    #: Bytes of a frame or a segment that is waited for here; longer ones are the loop's.
    MOST = 1 << 18
    ROOM = 1 << 16
    #: Bytes that several threads send together at most.
    TOGETHER = 1 << 14
    #: Threads that share a connection, beyond which the loop's thread reads cheaper.
    MOST_THREADS = 16
    #: Reads whose threads go on at once, after one waited long.
    REST = 50
cdef double LONGEST = SLICE
#: Seconds: who waits so long for the interpreter's lock waits for a thread that computes.
cdef double LONG = 0.002


cdef PyThread_type_lock new_lock() except NULL:
    cdef PyThread_type_lock lock = PyThread_allocate_lock()
    if lock == NULL:
        raise MemoryError
    return lock


cdef class Seat(Latch):
    """A thread that waits for an answer; opened by whoever reads it, or ends the request."""

    def __cinit__(self):
        """Closed, and in no list."""
        self.place.lock = new_lock()
        PyThread_acquire_lock(self.place.lock, 1)

    def __init__(self):
        """Without the lock of a latch."""

    def __dealloc__(self):
        """Away."""
        free(self.place.frame)
        if self.place.lock != NULL:
            PyThread_free_lock(self.place.lock)

    cpdef bint wait(self, object timeout) except -1:
        """Wait until it is opened by the loop; False if it was not in time."""
        cdef double until = -1 if timeout is None else driver_now() + <double>timeout
        cdef Outcome got = SIGNALLED
        while got == SIGNALLED:
            with nogil:
                got = acquire(self.place.lock, until)
            PyErr_CheckSignals()
        if got == OPENED:
            PyThread_release_lock(self.place.lock)
        return got == OPENED

    cpdef int open(self) except -1:
        """Have the thread go on."""
        PyThread_release_lock(self.place.lock)
        return 0


cdef class SharedReading:
    """The threads that wait for answers over one connection, from the first to the last."""

    def __cinit__(self):
        """Nobody waits."""
        self.own.lock = new_lock()
        self.own.sending = new_lock()
        self.own.waiting.end = &self.own.waiting.first
        self.own.ready.end = &self.own.ready.first

    def __dealloc__(self):
        """Away."""
        free(self.own.received.start)
        free(self.own.outgoing.start)
        free(self.own.leaving.start)
        if self.own.lock != NULL:
            PyThread_free_lock(self.own.lock)
        if self.own.sending != NULL:
            PyThread_free_lock(self.own.sending)

    cdef bint begin(self, int fd, int version, bint in_segments, Py_ssize_t strays) except -1:
        """Have threads read from now on; False if some of before have not left yet."""
        cdef Reading *own = &self.own
        if own.number:
            return False
        if not make_room(&own.received, ROOM):
            raise MemoryError
        own.fd, own.version, own.in_segments = fd, version, in_segments
        own.is_open, own.is_read = True, False
        own.received.size = 0
        self.is_loops = self.is_crowded = False
        self.strays = strays
        return True

    cdef bint join(self, Seat seat, int stream) except -1:
        """Have a thread wait for the answer of a stream, before it sends; False if it may not."""
        cdef Reading *own = &self.own
        cdef bint is_in
        hold(own.lock)
        self.is_crowded = self.is_crowded or own.number == MOST_THREADS
        is_in = own.is_open and not self.is_crowded
        if is_in:
            own.number += 1
            seat.place.stream = stream
            seat.place.waits = True
            append(&own.waiting, &seat.place)
        PyThread_release_lock(own.lock)
        return is_in

    cdef bint leave(self, Seat seat) noexcept:
        """Have a thread wait no more; whether it was the last one, after which nobody may join.

        It counts until the loop reads again.
        """
        cdef Reading *own = &self.own
        cdef Place *told = NULL
        cdef bint is_last, owes
        hold(own.lock)
        unlist(own, &seat.place)
        # Others go on, or read, by who was told to and has not done so.
        owes = seat.place.is_told or seat.place.reads
        if seat.place.is_told:
            take_word(&seat.place)
            seat.place.reads = seat.place.frame == NULL
        if seat.place.reads:
            seat.place.reads = own.is_read = False
        is_last = own.number == 1
        if is_last:
            own.is_open = False
        else:
            own.number -= 1
            if owes and not own.is_read:
                next_or_reader(own, &told)
        tell(told)
        PyThread_release_lock(own.lock)
        return is_last

    cdef bytes take_rest(self):
        """What came and was not handed out, for the thread that reads; the others go on."""
        cdef Reading *own = &self.own
        cdef Place *told = NULL
        hold(own.lock)
        add_all(own, &told)
        tell(told)
        PyThread_release_lock(own.lock)
        return taken_out(&own.received)

    cdef int leave_out(self, int stream) except -1:
        """Have the answer of a stream come by the loop."""
        cdef Reading *own = &self.own
        cdef Place *place
        hold(own.lock)
        place = waiting_for(own, stream)
        if place != NULL:
            unlist(own, place)
        PyThread_release_lock(own.lock)
        return 0

    cdef void end(self) noexcept:
        """Have the loop read from now on; what came and was not handed out is forgotten."""
        cdef Reading *own = &self.own
        cdef Place *told = NULL
        hold(own.lock)
        own.is_open = False
        own.received.size = 0
        add_all(own, &told)
        tell(told)
        PyThread_release_lock(own.lock)

    cdef Outcome wait(self, Seat seat, object data, double until) except *:
        """Send, and wait for the answer.

        Args:
            seat: of a thread that has joined.
            data: bytes; None sends nothing.
            until: by ``time.monotonic``; negative waits for ever.
        """
        cdef Reading *own = &self.own
        cdef const char *start = NULL
        cdef Py_ssize_t size = 0
        cdef Outcome outcome = NOT_SENT
        cdef bint is_tried = data is None, is_sent = is_tried
        cdef double woken
        if data is not None:
            start, size = PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)
            if own.number == 1 and size <= TOGETHER:
                # Where no other thread computes, nobody would go on meanwhile; where one does, it
                # would take the interpreter's lock, to keep it for 5 ms.
                is_tried = True
                is_sent = send_all(own, start, size)
        with nogil:
            if not is_tried:
                is_sent = send_with_others(own, start, size)
            if is_sent:
                outcome = wait_in_turn(own, &seat.place, until)
            woken = driver_now()
        if own.ready.first != NULL or (not own.is_read and own.waiting.first != NULL):
            go_on(own, driver_now() - woken > LONG)
        return outcome

    cdef tuple unsent(self):
        """The rest of what did not fit, and what was not sent either."""
        cdef Reading *own = &self.own
        cdef bytes rest, more
        PyThread_acquire_lock(own.sending, 1)
        hold(own.lock)
        rest = taken_out(&own.leaving)
        more = taken_out(&own.outgoing)
        PyThread_release_lock(own.lock)
        PyThread_release_lock(own.sending)
        return rest, more

    cdef Py_ssize_t send(
        self, const char *data, Py_ssize_t size, bint is_rest
    ) noexcept nogil:
        """Send what the socket takes; how many bytes. -1 for an error that ends the connection.

        Nothing is sent between two parts of a frame of somebody else.

        Args:
            data, size: what to send.
            is_rest: whether it begins with the rest of what did not fit, if there is one.
        """
        cdef Reading *own = &self.own
        cdef Py_ssize_t sent = 0
        PyThread_acquire_lock(own.sending, 1)
        if not own.is_torn or (is_rest and own.rest_is_pending):
            sent = driver_send(own.fd, data, size)
            if sent < 0 and driver_would_wait():
                sent = 0
            if sent == size:
                own.is_torn = own.rest_is_pending = False
            elif sent > 0:
                own.is_torn = True
        PyThread_release_lock(own.sending)
        return sent


# --- bytes ----------------------------------------------------------------------------------------


cdef bint make_room(Bytes *target, Py_ssize_t room) noexcept nogil:
    """Whether there is memory for so many bytes."""
    cdef char *larger
    if room > target.room:
        larger = <char *>realloc(target.start, room)
        if larger == NULL:
            return False
        target.start, target.room = larger, room
    return True


cdef bint put_in(Bytes *target, const char *data, Py_ssize_t size) noexcept nogil:
    """Append; False if there is no memory for it."""
    if not make_room(target, max(target.size + size, TOGETHER)):
        return False
    memcpy(target.start + target.size, data, size)
    target.size += size
    return True


cdef void drop(Bytes *target, Py_ssize_t size) noexcept nogil:
    """Forget so many bytes, from the first one on."""
    target.size -= size
    memmove(target.start, target.start + size, target.size)


cdef bytes taken_out(Bytes *target):
    """All of it, which is empty then."""
    cdef bytes found = PyBytes_FromStringAndSize(target.start, target.size)
    target.size = 0
    return found


# --- sending --------------------------------------------------------------------------------------


cdef bint send_with_others(Reading *own, const char *data, Py_ssize_t size) noexcept nogil:
    """Send, or leave it to who reads next; False if not all was sent."""
    cdef bint is_left = False
    hold(own.lock)
    if own.ready.first != NULL and own.outgoing.size + size <= TOGETHER:
        is_left = put_in(&own.outgoing, data, size)
    PyThread_release_lock(own.lock)
    return is_left or send_all(own, data, size)


cdef bint send_all(Reading *own, const char *data, Py_ssize_t size) noexcept nogil:
    """Send what others left to be sent, and this; False if the rest is kept."""
    cdef Py_ssize_t sent = 0
    cdef bint is_sent
    cdef Bytes before
    PyThread_acquire_lock(own.sending, 1)
    hold(own.lock)
    if own.is_torn:
        if size:
            put_in(&own.outgoing, data, size)
        is_sent = own.outgoing.size == 0
        PyThread_release_lock(own.lock)
        PyThread_release_lock(own.sending)
        return is_sent
    before = own.leaving
    own.leaving = own.outgoing
    own.outgoing = before
    PyThread_release_lock(own.lock)
    if own.leaving.size:
        if size:
            put_in(&own.leaving, data, size)
        data, size = own.leaving.start, own.leaving.size
    if size:
        sent = max(driver_send(own.fd, data, size), 0)
    is_sent = sent == size
    if data == own.leaving.start:
        drop(&own.leaving, sent)
    elif not is_sent:
        put_in(&own.leaving, data + sent, size - sent)
    own.is_torn = not is_sent
    PyThread_release_lock(own.sending)
    return is_sent


# --- waiting, and reading -------------------------------------------------------------------------


cdef inline void hold(PyThread_type_lock lock) noexcept nogil:
    """Take a lock that nobody keeps for long: trying again takes less than being woken."""
    cdef int times = 100
    while times and not PyThread_acquire_lock(lock, 0):
        times -= 1
    if not times:
        PyThread_acquire_lock(lock, 1)


cdef inline double time_left(double until) noexcept nogil:
    """Seconds to wait now, before it is time to look around."""
    return LONGEST if until < 0 else min(LONGEST, max(until - driver_now(), 0))


cdef inline Outcome late_or_signalled(double until) noexcept nogil:
    """Why a wait ended with nothing."""
    return LATE if until >= 0 and driver_now() >= until else SIGNALLED


cdef Outcome acquire(PyThread_type_lock lock, double until) noexcept nogil:
    """Wait for a lock, for ever if until is negative: OPENED, LATE, or SIGNALLED to look around.

    A signal that comes in the moment before the wait begins does not end it: see ``SLICE``.
    """
    cdef int got = PyThread_acquire_lock_timed(lock, <long long>(time_left(until) * 1e6), 1)
    if got == PY_LOCK_ACQUIRED:
        return OPENED
    return late_or_signalled(until) if got == PY_LOCK_FAILURE else SIGNALLED


cdef Outcome wait_in_turn(Reading *own, Place *mine, double until) noexcept nogil:
    """Wait until there is an answer, or until it is one's turn to read, and read."""
    cdef Outcome outcome
    cdef bint was_woken = False
    while True:
        if was_woken:
            if not mine.is_told:
                PyThread_release_lock(mine.lock)  # for others who wait for the same
                return OPENED
            mine.is_told = False
            mine.reads = mine.frame == NULL
        else:
            hold(own.lock)
            if mine.is_told:
                take_word(mine)
                mine.reads = mine.frame == NULL
            elif mine.is_ready:
                unlist(own, mine)
            elif (
                mine.waits
                and own.is_open
                and not own.is_read
                and own.ready.first == NULL
            ):
                own.is_read = mine.reads = True
            PyThread_release_lock(own.lock)
        if mine.frame != NULL:
            return ANSWERED
        if mine.reads and own.is_open:
            outcome = read(own, mine, until)
            if outcome != LATER:
                return outcome
        outcome = acquire(mine.lock, until)
        if outcome != OPENED:
            return outcome
        was_woken = True


cdef Outcome read(Reading *own, Place *mine, double until) noexcept nogil:
    """Hand out what comes, until the own answer is among it or others go on, and read then."""
    cdef double looked = driver_now()
    cdef Py_ssize_t size
    cdef Outcome outcome
    cdef Place *told
    if own.outgoing.size and not send_all(own, NULL, 0):
        return NOT_SENT
    while True:
        if driver_wait(own.fd, time_left(until)) == 0:
            return late_or_signalled(until)
        size = driver_recv(
            own.fd, own.received.start + own.received.size, own.received.room - own.received.size
        )
        if size < 0 and driver_would_wait():
            continue
        if size <= 0:
            own.error = driver_errno if size < 0 else 0
            return ENDED
        own.received.size += size
        told = NULL
        hold(own.lock)
        outcome = after_read(own, mine, &told) if hand_out(own) else STRAY
        tell(told)
        PyThread_release_lock(own.lock)
        if outcome != READ_ON:
            return outcome
        if driver_now() - looked > LONGEST:
            return late_or_signalled(until)


cdef Outcome after_read(Reading *own, Place *mine, Place **told) noexcept nogil:
    """Have those go on who have answers now, and say what this thread does. With the lock."""
    cdef Place *first = own.ready.first
    cdef bint in_turn = first != NULL and (mine.frame != NULL or first.next != NULL)
    if own.at_once:
        own.at_once -= 1
        in_turn = False
    if not in_turn:
        add_all(own, told)
        if mine.frame == NULL:
            return READ_ON
    mine.reads = own.is_read = False
    if not in_turn:
        pass_on(own, told)
    elif mine.frame == NULL:
        add_next(own, told)
    return ANSWERED if mine.frame != NULL else LATER


cdef void go_on(Reading *own, bint waited_long) noexcept:
    """Have the next one go on, or somebody read after the last; with the interpreter's lock."""
    cdef Place *told = NULL
    hold(own.lock)
    if waited_long:
        own.at_once = REST
        add_all(own, &told)
    if told == NULL:
        next_or_reader(own, &told)
    tell(told)
    PyThread_release_lock(own.lock)


cdef void next_or_reader(Reading *own, Place **told) noexcept nogil:
    """Have the next one go on that has an answer, or, if there is none, one read; with the lock."""
    add_next(own, told)
    if told[0] == NULL:
        pass_on(own, told)


cdef void pass_on(Reading *own, Place **told) noexcept nogil:
    """Have who has waited longest read, if nobody does; with the lock."""
    cdef Place *place = own.waiting.first
    if own.is_open and not own.is_read and place != NULL and not place.is_told:
        own.is_read = place.is_told = True
        place.next_told = told[0]
        told[0] = place


cdef void add_next(Reading *own, Place **told) noexcept nogil:
    """Have the next one go on that has an answer; with the lock."""
    cdef Place *place = own.ready.first
    if place != NULL:
        unlist(own, place)
        place.is_told = True
        place.next_told = told[0]
        told[0] = place


cdef inline void add_all(Reading *own, Place **told) noexcept nogil:
    """Have all go on that have an answer; with the lock."""
    while own.ready.first != NULL:
        add_next(own, told)


cdef void tell(Place *told) noexcept nogil:
    """Wake those that are to go on; with the lock, which they take before they are gone."""
    cdef Place *place
    while told != NULL:
        place, told = told, told.next_told
        PyThread_release_lock(place.lock)


cdef inline void take_word(Place *mine) noexcept nogil:
    """Close the seat again, that was opened to tell something; with the lock."""
    mine.is_told = False
    PyThread_acquire_lock(mine.lock, 1)


cdef inline void append(Queue *queue, Place *place) noexcept nogil:
    """Put a place that is in no queue behind all of one; with the lock."""
    place.next = NULL
    queue.end[0] = place
    queue.end = &place.next


cdef void unlist(Reading *own, Place *place) noexcept nogil:
    """Take a place out of the queue that it is in; with the lock."""
    cdef Queue *queue = &own.ready if place.is_ready else &own.waiting
    cdef Place **at = &queue.first
    if place.waits or place.is_ready:
        while at[0] != place:
            at = &at[0].next
        at[0] = place.next
        if place.next == NULL:
            queue.end = at
        place.waits = place.is_ready = False


# --- frames ---------------------------------------------------------------------------------------


cdef bint hand_out(Reading *own) noexcept nogil:
    """Give what came to those who wait for it; False at something unusual. With the lock."""
    cdef const uint8_t *data
    cdef const uint8_t *frames
    cdef Py_ssize_t taken = 0, left, needed, size
    cdef bint is_usual = True
    while True:
        data = <const uint8_t *>own.received.start + taken
        left = own.received.size - taken
        needed = HEADER
        if left < needed:
            break
        if own.in_segments:
            size = little_endian(data, 3)
            is_usual = little_endian(data + 3, 3) == crc24(data, 3) and size >> 17 == 1
            size &= 0x1FFFF
            frames, needed = data + 6, size + 10
        else:
            size = read_int32(data + 5)
            is_usual = data[0] == own.version and 0 <= size <= MOST
            size += HEADER
            frames, needed = data, size
        if not is_usual or left < needed:
            break
        if own.in_segments:
            is_usual = crc32_of_payload(frames, size) == little_endian(frames + size, 4)
        is_usual = is_usual and give(own, frames, size)
        if not is_usual:
            break
        taken += needed
    if taken:
        drop(&own.received, taken)
    return is_usual and make_room(&own.received, needed)


cdef bint give(Reading *own, const uint8_t *data, Py_ssize_t size) noexcept nogil:
    """Hand frames out; False, and nothing, if they are not whole or somebody else's."""
    cdef const uint8_t *frame = data
    cdef Py_ssize_t left = size, length
    cdef Place *place
    own.segment += 1
    while left:
        if left < HEADER:
            return False
        length = read_int32(frame + 5)
        if frame[0] != own.version or not 0 <= length <= left - HEADER:
            return False
        place = waiting_for(own, read_int16(frame + 2))
        if place == NULL or place.segment == own.segment:
            return False
        place.segment = own.segment
        frame += HEADER + length
        left -= HEADER + length
    while size:
        length = HEADER + read_int32(data + 5)
        place = waiting_for(own, read_int16(data + 2))
        if not keep_frame(place, data, length):
            return False
        unlist(own, place)
        if not place.reads:
            append(&own.ready, place)
            place.is_ready = True
        data += length
        size -= length
    return True


cdef bint keep_frame(Place *place, const uint8_t *data, Py_ssize_t size) noexcept nogil:
    """Copy a frame for who waits for it; False if there is no memory for it."""
    place.frame = <char *>realloc(NULL, size)
    if place.frame == NULL:
        return False
    memcpy(place.frame, data, size)
    place.size = size
    return True


cdef Place *waiting_for(Reading *own, int stream) noexcept nogil:
    """Who waits for a stream; NULL for nobody."""
    cdef Place *place = own.waiting.first
    while place != NULL and place.stream != stream:
        place = place.next
    return place
