"""Compiled form of driver/execution/request.py: the way of a request that is answered at once.

What every request passes is here and reads and sets its slots where they are: it is made, sent to
the first host that takes it, and ends with rows. Whatever else may happen to it (errors, retries,
other kinds of results) is left to the methods of the pure module.

Long, because all of it works on the slots of one object, by their places: these are known here
alone.
"""

import logging
import threading
import time

cimport cython
from cpython.object cimport PyObject
from cpython.set cimport PySet_Add, PySet_Discard
from cpython.tuple cimport PyTuple_Check, PyTuple_GET_ITEM

from driver._cython.clocks cimport HAS_CLOCKS, Name, driver_now, named
from driver._cython.net.after_read cimport Latch, Waiter
from driver._cython.net.connection cimport (
    Receiver,
    read_for,
    send_over,
    stop_reading,
    takes_over,
)
from driver._cython.net.shared_reading cimport Seat
from driver._cython.net.timers cimport cancel, set_timer
from driver._cython.net.transport cimport send_postponed
from driver._cython.pool.host_pool cimport borrow, give_back
from driver._cython.results.rows cimport rows_by
from driver._cython.slots cimport (
    FREE_THREADED,
    Place,
    attribute,
    has_method,
    is_instance,
    is_made_by,
    new_object,
    not_collected,
    put,
    put_alone,
    slot_offset,
    taken,
)

from ...execution import request as pure
from ...execution.late_page import LatePage
from ...execution.options import Options
from ...net.errors import ConnectionException, as_exception
from ...net.loop import outlive
from ...protocol.kinds import RESULT_KIND_ROWS, RESULT_KIND_VOID
from ...statements.prepared import PreparedStatement
from ...wire.requests import ExecuteMessage
from ...wire.responses import ResultMessage

cdef extern from "Python.h":
    Py_ssize_t PySet_GET_SIZE(object kept)

__all__ = ["Attempt"]

cdef object log = logging.getLogger(pure.__name__)
cdef object Request = pure.RequestExecution
cdef object _NOT_SET = pure.NOT_SET
cdef object _NONE = pure._NONE
cdef object _NO_ERRORS = pure._NO_ERRORS
cdef object _announce = pure.announce
cdef object _naming_option = pure.naming_option
cdef object _QueryExhausted = pure.QueryExhausted
cdef object begin_next_plainly = Request._begin_next_page
cdef object _call_back = pure.call_back
# Its functions by their names, which tests replace.
cdef dict _clock = vars(time)
cdef object _monotonic = time.monotonic
cdef Name MONOTONIC
cdef object _new_lock = threading.Lock
cdef object _Options = Options
cdef object _LatePage = LatePage
cdef object _ResultMessage = ResultMessage
cdef object _ExecuteMessage = ExecuteMessage
cdef object _PreparedStatement = PreparedStatement
cdef object _ROWS = RESULT_KIND_ROWS
cdef object _VOID = RESULT_KIND_VOID

# Where a request has what.
cdef Py_ssize_t LOCK = slot_offset(Request, b"_callback_lock")
cdef Py_ssize_t CALLBACKS = slot_offset(Request, b"_callbacks")
cdef Py_ssize_t NAMES = slot_offset(Request, b"_col_names")
cdef Py_ssize_t TYPES = slot_offset(Request, b"_col_types")
cdef Py_ssize_t PAYLOAD = slot_offset(Request, b"_custom_payload")
cdef Py_ssize_t ERRBACKS = slot_offset(Request, b"_errbacks")
cdef Py_ssize_t ERRORS = slot_offset(Request, b"_errors")
cdef Py_ssize_t EXCEPTION = slot_offset(Request, b"_final_exception")
cdef Py_ssize_t RESULT = slot_offset(Request, b"_final_result")
cdef Py_ssize_t IN_FLIGHT = slot_offset(Request, b"_in_flight")
cdef Py_ssize_t IS_ENDING = slot_offset(Request, b"_is_ending")
cdef Py_ssize_t KEYSPACE = slot_offset(Request, b"_keyspace")
cdef Py_ssize_t METRICS = slot_offset(Request, b"_metrics")
cdef Py_ssize_t PAGE = slot_offset(Request, b"_page")
cdef Py_ssize_t PAGING_STATE = slot_offset(Request, b"_paging_state")
cdef Py_ssize_t PLAN = slot_offset(Request, b"_plan")
cdef Py_ssize_t PREPARED_AGAIN = slot_offset(Request, b"_prepared_again")
cdef Py_ssize_t READS = slot_offset(Request, b"_reads")
cdef Py_ssize_t RETRIES = slot_offset(Request, b"_query_retries")
cdef Py_ssize_t TRACES = slot_offset(Request, b"_query_traces")
cdef Py_ssize_t ROUTE = slot_offset(Request, b"_route")
cdef Py_ssize_t SPECULATION = slot_offset(Request, b"_speculative_execution_plan")
cdef Py_ssize_t START_TIME = slot_offset(Request, b"_start_time")
cdef Py_ssize_t TIMERS = slot_offset(Request, b"_timers")
cdef Py_ssize_t WAITED_FOR = slot_offset(Request, b"_waited_for")
cdef Py_ssize_t WARNINGS = slot_offset(Request, b"_warnings")
cdef Py_ssize_t ATTEMPTED = slot_offset(Request, b"attempted_hosts")
cdef Py_ssize_t COORDINATOR = slot_offset(Request, b"coordinator_host")
cdef Py_ssize_t IS_AGREED = slot_offset(Request, b"is_schema_agreed")
cdef Py_ssize_t MESSAGE = slot_offset(Request, b"message")
cdef Py_ssize_t OPTIONS = slot_offset(Request, b"options")
cdef Py_ssize_t PREPARED = slot_offset(Request, b"prepared_statement")
cdef Py_ssize_t QUERY = slot_offset(Request, b"query")
cdef Py_ssize_t ENCODED_SIZE = slot_offset(Request, b"request_encoded_size")
cdef Py_ssize_t SESSION = slot_offset(Request, b"session")

# Where its options are among themselves.
cdef Py_ssize_t TIMEOUT_AT = Options._fields.index("timeout")
cdef Py_ssize_t FACTORY_AT = Options._fields.index("row_factory")
cdef Py_ssize_t POLICY_AT = Options._fields.index("load_balancing_policy")
cdef Py_ssize_t HOST_AT = Options._fields.index("host")
cdef Py_ssize_t HANDLER_AT = Options._fields.index("protocol_handler")
cdef Py_ssize_t MORE_AT = Options._fields.index("more")

# Of a result, a prepared statement and its message.
cdef Py_ssize_t RESULT_KIND = slot_offset(ResultMessage, b"kind")
cdef Py_ssize_t RESULT_TRACE = slot_offset(ResultMessage, b"trace_id")
cdef Py_ssize_t RESULT_WARNINGS = slot_offset(ResultMessage, b"warnings")
cdef Py_ssize_t RESULT_PAYLOAD = slot_offset(ResultMessage, b"custom_payload")
cdef Py_ssize_t RESULT_PAGING_STATE = slot_offset(ResultMessage, b"paging_state")
cdef Py_ssize_t RESULT_NAMES = slot_offset(ResultMessage, b"column_names")
cdef Py_ssize_t RESULT_TYPES = slot_offset(ResultMessage, b"column_types")
cdef Py_ssize_t RESULT_ROWS = slot_offset(ResultMessage, b"parsed_rows")
cdef Py_ssize_t RESULT_NEW_ID = slot_offset(ResultMessage, b"result_metadata_id")
cdef Py_ssize_t KNOWN_METADATA = slot_offset(PreparedStatement, b"result_metadata")
cdef Py_ssize_t KNOWN_ID = slot_offset(PreparedStatement, b"result_metadata_id")
cdef Py_ssize_t MESSAGE_ID = slot_offset(ExecuteMessage, b"result_metadata_id")


# Of what may be of any class.
cdef Place IS_POOL_SHUT, LISTENERS, SESSION_METRICS, SHARDING, SHARED_TIMERS


cdef class SessionCalls:
    """What a request asks of its session; the module of sessions puts its own C functions here."""

    cdef object query_plan(
        self, object session, object query, object policy, object host, object keyspace
    ):
        return session.query_plan(query, policy, host, keyspace)

    cdef object pool_for(self, object session, object host):
        return session.pool_for(host)


cdef SessionCalls calls = SessionCalls()


cdef void use_calls(SessionCalls own) noexcept:
    """Ask sessions by these from now on."""
    global calls
    calls = own


cdef inline PyObject *checked(object self) except NULL:
    """A request, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Request):
        raise TypeError(f"a request is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef inline object now():
    cdef object clock = named(_clock, "monotonic", &MONOTONIC)
    return driver_now() if clock is _monotonic and HAS_CLOCKS else clock()


cdef inline object option(object options, Py_ssize_t at):
    if not PyTuple_Check(options):
        raise TypeError(f"the options of a request are needed, not {options!r}")
    return <object>PyTuple_GET_ITEM(options, at)


cdef class Attempt(Receiver):
    """A message on its way to a host, and back; see driver/execution/request.py."""

    cdef readonly object request
    cdef readonly object host
    cdef readonly object connection
    cdef readonly object pool
    cdef readonly object stream
    cdef readonly object callback

    takes_late_rows = True

    def __init__(self, request, host, connection, pool, stream, callback):
        """Describe what is about to be sent."""
        checked(request)
        self.request = request
        self.host = host
        self.connection = connection
        self.pool = pool
        self.stream = stream
        self.callback = callback

    def __call__(self, response):
        """Hand the answer on, unless it was given up."""
        self.receive(response)

    cdef int receive(self, object response) except -1:
        cdef object request = self.request
        if not PySet_Discard(taken(<PyObject *>request, IN_FLIGHT), self):
            return 0
        if self.callback is None:
            if has_method(request, "_set_result", _set_result):
                take(request, self.host, self.connection, self.pool, response)
            else:
                request._set_result(self.host, self.connection, self.pool, response)
            return 0
        try:
            self.callback(self.host, self.connection, self.pool, response)
        except BaseException as exc:
            log.exception("Unexpected exception while handling the answer to a request")
            request._set_final_exception(as_exception(exc, "handling the answer"))
            outlive(exc)
        return 0

    def stop_reading(self):
        """Have the loop read the answer, which this thread has taken over to do."""
        stop_reading(self.connection, self)

    def give_up(self):
        """Leave the stream to its late answer, and give the connection back."""
        self.connection.abandon(self.stream)
        self.pool.return_connection(self.connection)


@cython.freelist(64)
cdef class TimeLimit:
    """What a timer calls when the time for the answer to a page is over."""

    cdef object request
    cdef object page

    def __call__(self):
        self.request._on_timeout(self.page)


def init(
    self, session, message, query, options=None, prepared_statement=None,
    speculative_execution_plan=None, *, metrics=None, start_time=None,
):
    """Describe a request; see driver/execution/request.py."""
    describe(
        checked(self), session, message, query,
        _Options(row_factory=session.row_factory) if options is None else options,
        prepared_statement, speculative_execution_plan,
        session.metrics if metrics is None else metrics,
        now() if start_time is None else start_time,
    )


cdef object new_request(
    object cls, object session, object message, object query, object options, object prepared,
    object speculation,
):
    """What calling a class of requests gives; nothing of Python's runs if it has no own ways."""
    cdef object made
    if not is_made_by(cls, _init):
        return cls(session, message, query, options, prepared, speculation)
    made = new_object(cls)
    describe(
        <PyObject *>made, session, message, query, options, prepared, speculation,
        attribute(session, "metrics", &SESSION_METRICS), now(),
    )
    return made


cdef int describe(
    PyObject *me, object session, object message, object query, object options, object prepared,
    object speculation, object metrics, object start_time,
) except -1:
    cdef object more = option(options, MORE_AT)
    put_alone(me, LOCK, None)
    put_alone(me, SESSION, session)
    put_alone(me, MESSAGE, message)
    put_alone(me, QUERY, query)
    put_alone(me, OPTIONS, options)
    put_alone(me, PREPARED, prepared)
    put_alone(me, ATTEMPTED, not_collected([]))
    put_alone(me, COORDINATOR, None)
    put_alone(me, ENCODED_SIZE, None)
    put_alone(me, IS_AGREED, True)
    put_alone(me, METRICS, metrics)
    put_alone(me, START_TIME, start_time)
    put_alone(me, SPECULATION, speculation)
    put_alone(me, KEYSPACE, None if more is None else more.get("keyspace"))
    put_alone(me, TRACES, ())
    put_alone(me, WARNINGS, None)
    put_alone(me, PAYLOAD, None)
    put_alone(me, PAGING_STATE, None)
    put_alone(me, NAMES, None)
    put_alone(me, TYPES, None)
    put_alone(me, CALLBACKS, ())
    put_alone(me, ERRBACKS, ())
    put_alone(me, RESULT, _NOT_SET)
    put_alone(me, EXCEPTION, None)
    put_alone(me, WAITED_FOR, None)
    put_alone(me, READS, False)
    put_alone(me, PAGE, 0)
    return begin_page(me)


cdef int begin_page(PyObject *me) except -1:
    put_alone(me, PAGE, taken(me, PAGE) + 1)
    put_alone(me, PLAN, None)
    put_alone(me, ROUTE, None)
    put_alone(me, RETRIES, 0)
    put_alone(me, PREPARED_AGAIN, _NONE)
    put_alone(me, ERRORS, _NO_ERRORS)
    put_alone(me, IN_FLIGHT, set())
    put_alone(me, TIMERS, ())
    put_alone(me, IS_ENDING, False)
    return 0


def begin_next_page(self):
    """Forget the current page; see driver/execution/request.py."""
    cdef PyObject *me = checked(self)
    cdef object state = taken(me, PAGING_STATE)
    cdef object start
    if FREE_THREADED:
        return begin_next_plainly(self)
    if not state:
        raise _QueryExhausted("there are no more pages")
    start = now()
    if not has_outcome(me) and not self.is_done:
        return False
    # Nothing of Python's runs from here until there is no outcome: of several threads, one goes on.
    put_alone(me, PAGE, taken(me, PAGE) + 1)
    put_alone(me, WAITED_FOR, None)
    put_alone(me, RESULT, _NOT_SET)
    put_alone(me, EXCEPTION, None)
    begin_page(me)
    put_alone(me, START_TIME, start)
    taken(me, MESSAGE).paging_state = state
    return True


cdef bint has_outcome(PyObject *me) except -1:
    """Whether the current page is here, or has failed."""
    return taken(me, RESULT) is not _NOT_SET or taken(me, EXCEPTION) is not None


# --- sending --------------------------------------------------------------------------------------


def send_request(self):
    """Send the request, from any thread. What goes wrong becomes its exception."""
    send_now(self)


cdef int send(object request) except -1:
    """Send a request as its class does it."""
    if has_method(request, "send_request", _send_request):
        return send_now(request)
    request.send_request()
    return 0


cdef int send_now(object self) except -1:
    cdef PyObject *me = checked(self)
    cdef object listeners = attribute(taken(me, SESSION), "request_listeners", &LISTENERS)
    if listeners:
        _announce(self, taken(me, START_TIME), listeners)
    return send_first(self)


def send_page(self):
    """Send the request for the first page or the next one."""
    send_first(self)


cdef int send_first(object self) except -1:
    cdef PyObject *me = checked(self)
    cdef object page = taken(me, PAGE)
    cdef object options = taken(me, OPTIONS)
    cdef object waited = 0.0
    cdef TimeLimit limit
    try:
        put(
            me,
            PLAN,
            calls.query_plan(
                taken(me, SESSION),
                taken(me, QUERY),
                option(options, POLICY_AT),
                option(options, HOST_AT),
                taken(me, KEYSPACE),
            ),
        )
        if not to_next(self):
            return 0
        if (
            taken(me, READS) is not False
            or taken(me, CALLBACKS)
            or taken(me, ERRBACKS)
            or option(options, TIMEOUT_AT) is None
        ):
            send_postponed(True)  # who waits for a future sends it, or a tick of the timers
    except Exception as exc:
        self._set_final_exception(_naming_option(exc, taken(me, MESSAGE)))
        return 0
    if taken(me, READS) is True:
        put(me, READS, False)
    elif taken(me, READS) is not False:
        waited = read_answer(self)
    # Not before something was sent: nothing that ends a request may run beside this thread.
    if taken(me, IS_ENDING) is not False or page is not taken(me, PAGE):
        return 0
    options = option(options, TIMEOUT_AT)
    if options is not None:
        limit = TimeLimit.__new__(TimeLimit)
        limit.request = self
        limit.page = page
        set_own_timer(self, options - waited if waited else options, limit)
    if taken(me, SPECULATION) is not None:
        self._plan_speculative_execution(page)
    return 0


cdef object read_answer(object self):
    """Read the answer on this thread, which has taken over for it; seconds that it took."""
    cdef PyObject *me = <PyObject *>self
    cdef Attempt attempt = <Attempt?>taken(me, READS)
    cdef object start = now()
    read_for(
        attempt.connection, attempt, attempt.stream, option(taken(me, OPTIONS), TIMEOUT_AT)
    )
    put(me, READS, False)  # not before: whoever is interrupted meanwhile hands reading back
    return now() - start


def send_to_next(self):
    """Send the request to the next host of the plan that takes it; whether there is one."""
    return to_next(self)


cdef bint to_next(object self) except -1:
    cdef PyObject *me = checked(self)
    for host in taken(me, PLAN):
        if send_to(self, host, None, None):
            return True
    if not taken(me, IN_FLIGHT):
        self._end_without_host()
    return False


def query(self, host, message=None, callback=None):
    """Send a message, by default the request itself; whether the host can be used now."""
    return send_to(self, host, message, callback)


cdef bint send_to(object self, object host, object message, object callback) except -1:
    cdef PyObject *me = checked(self)
    cdef object pool = calls.pool_for(taken(me, SESSION), host)
    cdef object connection, stream, prepared, result_metadata, size
    cdef bint has_shards
    cdef Attempt attempt
    if pool is None or attribute(pool, "is_shutdown", &IS_POOL_SHUT):
        self._has_no_pool(host, pool)
        return False
    has_shards = attribute(host, "sharding_info", &SHARDING) is not None
    try:
        if has_shards:
            connection, stream = self._borrow_of_shard(host, pool)
        else:
            connection, stream = borrow(pool)
    except ConnectionException as error:
        self._cannot_use(host, error)
        return False
    result_metadata = None
    if message is None:
        message = taken(me, MESSAGE)
        prepared = taken(me, PREPARED)
        if prepared is not None:
            # The id first: see PreparedStatement.update_result_metadata.
            if (
                type(message) is _ExecuteMessage
                and is_instance(prepared, <PyObject *>_PreparedStatement)
            ):
                put(<PyObject *>message, MESSAGE_ID, taken(<PyObject *>prepared, KNOWN_ID))
                result_metadata = taken(<PyObject *>prepared, KNOWN_METADATA)
            else:
                message.result_metadata_id = prepared.result_metadata_id
                result_metadata = prepared.result_metadata
            if has_shards:
                message = self._extended(message, connection)
    attempt = Attempt.__new__(Attempt)
    attempt.request = self
    attempt.host = host
    attempt.connection = connection
    attempt.pool = pool
    attempt.stream = stream
    attempt.callback = callback
    if (
        taken(me, READS) is True
        and callback is None
        and not taken(me, CALLBACKS)
        and not taken(me, ERRBACKS)
        and taken(me, SPECULATION) is None
        and takes_over(connection, attempt, stream)
    ):
        put(me, READS, attempt)
        if attempt.seat is not None:
            put(me, WAITED_FOR, attempt.seat)
    (<list?>taken(me, ATTEMPTED)).append(host)
    PySet_Add(taken(me, IN_FLIGHT), attempt)
    try:
        size = send_over(
            connection, message, stream, attempt, result_metadata,
            option(taken(me, OPTIONS), HANDLER_AT),
        )
    except Exception as error:
        if taken(me, READS) is attempt:
            put(me, READS, True)
            stop_reading(connection, attempt)
        PySet_Discard(taken(me, IN_FLIGHT), attempt)
        connection.release_request_id(stream)
        pool.return_connection(connection)
        if not isinstance(error, ConnectionException):
            raise
        self._cannot_use(host, error)
        return False
    put(me, ENCODED_SIZE, size)
    return True


def call_later(self, seconds, fn):
    """Set a timer that the end of the request cancels, even if it comes meanwhile."""
    set_own_timer(self, seconds, fn)


cdef int set_own_timer(object self, object seconds, object fn) except -1:
    cdef PyObject *me = checked(self)
    cdef object timer = set_timer(
        attribute(taken(me, SESSION), "timers", &SHARED_TIMERS), seconds, fn
    )
    cdef object others = taken(me, TIMERS)
    put(me, TIMERS, (*others, timer) if others else (timer,))
    # Only now: an end that does not see the timer yet is seen here.
    if taken(me, IS_ENDING) is not False:
        put(me, TIMERS, ())
        cancel(timer)
    return 0


def lock_of(self):
    """What adding a callback and ending exclude each other by, made for the first who asks."""
    cdef PyObject *me = checked(self)
    cdef object lock = taken(me, LOCK)
    cdef object made
    if lock is None:
        made = _new_lock()
        # Nothing of Python's runs from here on: of several who make one, one is the first.
        with cython.critical_section(self):
            lock = taken(me, LOCK)
            if lock is None:
                put_alone(me, LOCK, made)
                lock = made
    return lock


# --- answers, on the loop's thread ----------------------------------------------------------------


def set_result(self, host, connection, pool, response):
    """Take what came back for the request; see driver/execution/request.py."""
    take(self, host, connection, pool, response)


cdef int take(
    object self, object host, object connection, object pool, object response
) except -1:
    cdef PyObject *me = checked(self)
    cdef PyObject *result = <PyObject *>response
    cdef object payload, kind
    try:
        put(me, COORDINATOR, host)
        if pool is not None and connection is not None:
            give_back(pool, connection)
        if not is_instance(response, <PyObject *>_ResultMessage):
            self._set_failure(host, connection, response)
            return 0
        if taken(result, RESULT_TRACE):
            put(me, TRACES, (*taken(me, TRACES), taken(result, RESULT_TRACE)))
        put(me, WARNINGS, taken(result, RESULT_WARNINGS))
        payload = taken(result, RESULT_PAYLOAD)
        put(me, PAYLOAD, payload)
        if payload:
            self._look_for_tablet(payload)
        kind = taken(result, RESULT_KIND)
        if kind is not _ROWS and kind != _ROWS:
            if kind == _VOID:
                end_with(self, None)
            else:
                self._set_result_of_kind(connection, response)
            return 0
        put(me, PAGING_STATE, taken(result, RESULT_PAGING_STATE))
        put(me, NAMES, taken(result, RESULT_NAMES))
        put(me, TYPES, taken(result, RESULT_TYPES))
        if taken(result, RESULT_NEW_ID) is not None:
            self._take_new_metadata(response)
        end_with(
            self,
            rows_by(
                option(taken(me, OPTIONS), FACTORY_AT),
                taken(result, RESULT_NAMES),
                taken(result, RESULT_ROWS),
            ),
        )
    except BaseException as exc:
        # Nobody would ever be called back if this left the thread that reads responses.
        self._set_final_exception(as_exception(exc, "handling the answer"))
        outlive(exc)
    return 0


def set_final_result(self, response):
    """End with rows, or with what came in their place."""
    checked(self)
    end_with(self, response)


cdef int end_with(object self, object response) except -1:
    cdef PyObject *me = <PyObject *>self
    cdef object timers = taken(me, TIMERS)
    cdef object metrics = taken(me, METRICS)
    cdef object to_call, waited_for, lock
    put(me, IS_ENDING, True)
    if PySet_GET_SIZE(taken(me, IN_FLIGHT)):
        self._end()
    elif timers:
        put(me, TIMERS, ())
        for timer in timers:
            cancel(timer)
    if metrics is not None:
        metrics.on_result(now() - taken(me, START_TIME))
    lock = taken(me, LOCK)
    if lock is None and FREE_THREADED:
        lock = lock_of(self)
    if lock is None:
        # Nobody has added a callback, and nobody can do so between these lines.
        to_call = taken(me, CALLBACKS)
        put(me, RESULT, response)
    else:
        lock.acquire()
        put(me, RESULT, response)
        # A callback that is added from now on is called where it is added.
        to_call = taken(me, CALLBACKS)
        lock.release()
    waited_for = taken(me, WAITED_FOR)
    if type(waited_for) is Waiter:
        (<Waiter>waited_for).wake()
    elif type(waited_for) is Seat:
        put(me, WAITED_FOR, None)
        (<Seat>waited_for).open()
    elif type(waited_for) is Latch:
        put(me, WAITED_FOR, None)
        (<Latch>waited_for).open()
    elif waited_for is not None:
        self._wake()
    for callback in to_call:
        if type(response) is _LatePage:
            self._call_back_with_rows(response, to_call)
            break
        _call_back(callback, response)
    return 0


def has_more_pages(self):
    """Whether the server has rows after the page that was fetched last."""
    return bool(taken(checked(self), PAGING_STATE))


METHODS = {
    "RequestExecution.__init__": init,
    "RequestExecution.has_more_pages": has_more_pages,
    "RequestExecution.send_request": send_request,
    "RequestExecution._begin_next_page": begin_next_page,
    "RequestExecution._send_page": send_page,
    "RequestExecution._send_to_next": send_to_next,
    "RequestExecution._query": query,
    "RequestExecution._call_later": call_later,
    "RequestExecution._lock": lock_of,
    "RequestExecution._set_result": set_result,
    "RequestExecution._set_final_result": set_final_result,
}

cdef object _init = init
cdef object _set_result = set_result
cdef object _send_request = send_request
