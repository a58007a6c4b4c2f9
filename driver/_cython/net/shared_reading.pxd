"""Threads that read one connection in turn: see driver/_cython/net/shared_reading.pyx."""

from driver._cython.net.after_read cimport Latch

cdef extern from "Python.h":
    ctypedef void *PyThread_type_lock


cdef enum Outcome:
    #: The answer is here: ``Place.frame``.
    ANSWERED
    #: The loop, or whoever ends the request, opened the seat.
    OPENED
    #: The time is over; a signal may have come, or it is time to look around.
    LATE, SIGNALLED
    #: Of the thread that reads: something came that nobody here waits for; the connection ended.
    STRAY, ENDED
    #: The socket did not take all: ``SharedReading.unsent``.
    NOT_SENT
    #: Within this module: others read before this thread does; this thread reads on.
    LATER, READ_ON


cdef struct Place:
    PyThread_type_lock lock
    int stream
    bint waits, is_ready, reads, is_told
    # Of the last segment that had a frame for it.
    unsigned long segment
    char *frame
    Py_ssize_t size
    Place *next
    Place *next_told


cdef struct Queue:
    Place *first
    Place **end


cdef struct Bytes:
    char *start
    Py_ssize_t size, room


cdef struct Reading:
    PyThread_type_lock lock, sending
    int fd, version, error
    bint in_segments
    # Threads that have joined and not left; whether more may; whether one of them reads.
    Py_ssize_t number
    bint is_open, is_read
    # Those who wait for an answer; those who have one, and wait for others to go on first.
    Queue waiting, ready
    unsigned long segment
    # Reads whose threads go on at once, not one after the other.
    int at_once
    Bytes received, outgoing, leaving
    # Whether the socket has a part of a frame, and whether the rest is first of what is pending.
    bint is_torn, rest_is_pending


cdef class Seat(Latch):
    cdef Place place


cdef class SharedReading:
    cdef Reading own
    #: Whether the loop reads again, while some of those who read before have not left.
    cdef bint is_loops
    #: Whether there were more threads than may join.
    cdef bint is_crowded
    #: So many answers to requests of before may come, and others, until the loop reads again.
    cdef Py_ssize_t strays

    cdef bint begin(self, int fd, int version, bint in_segments, Py_ssize_t strays) except -1
    cdef bint join(self, Seat seat, int stream) except -1
    cdef Outcome wait(self, Seat seat, object data, double until) except *
    cdef bint leave(self, Seat seat) noexcept
    cdef bytes take_rest(self)
    cdef int leave_out(self, int stream) except -1
    cdef void end(self) noexcept
    cdef tuple unsent(self)
    cdef Py_ssize_t send(
        self, const char *data, Py_ssize_t size, bint is_rest
    ) noexcept nogil
