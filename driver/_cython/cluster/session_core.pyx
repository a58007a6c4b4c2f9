"""Compiled form of driver/cluster/session_core.py: what a session does for every request."""

from cpython.object cimport PyObject, PyObject_IsTrue
from cpython.tuple cimport PyTuple_GET_ITEM

from driver._cython.execution.request cimport SessionCalls, new_request, use_calls
from driver._cython.execution.options cimport message_of
from driver._cython.policies.timestamps cimport stamp_of
from driver._cython.slots cimport (
    FREE_THREADED,
    Place,
    attribute,
    has_method,
    is_instance,
    slot_offset,
    taken,
)
from driver._cython.statements.bound cimport bound_to

from ...cluster import session_core as pure
from ...execution.options import Options
from ...statements.base import FetchSizeUnset, Statement
from ...statements.bound import BoundStatement
from ...statements.prepared import PreparedStatement
from ...statements.simple import SimpleStatement
from ...topology.host import Host

cdef extern from "Python.h":
    PyObject *_PyDict_GetItem_KnownHash(
        object known, object key, Py_hash_t hash_of_key
    ) except? NULL

__all__ = []

cdef object Session = pure.SessionCore
cdef object query_plan_plainly = pure.SessionCore.query_plan
cdef object _DEFAULT = pure.EXEC_PROFILE_DEFAULT
cdef object _NOT_SET = pure.NOT_SET
cdef object _PROFILES = pure.ConfigMode.PROFILES
cdef object _Statement = Statement
cdef object _BoundStatement = BoundStatement
cdef object _PreparedStatement = PreparedStatement
cdef object _SimpleStatement = SimpleStatement
cdef object _FetchSizeUnset = FetchSizeUnset
cdef object _Host = Host

cdef Py_ssize_t CLUSTER = slot_offset(Session, b"cluster")
cdef Py_ssize_t POOLS = slot_offset(Session, b"pools")
cdef Py_ssize_t PREPARED_CACHE = slot_offset(Session, b"prepared_cache")
cdef Py_ssize_t ENCODER = slot_offset(Session, b"encoder")
cdef Py_ssize_t HAS_TIMESTAMP = slot_offset(Session, b"use_client_timestamp")
cdef Py_ssize_t TIMESTAMPS = slot_offset(Session, b"timestamp_generator")
cdef Py_ssize_t FETCH_SIZE = slot_offset(Session, b"default_fetch_size")
cdef Py_ssize_t HANDLER = slot_offset(Session, b"_requests_handler")
cdef Py_ssize_t OWN_PROFILE = slot_offset(Session, b"_own_profile")
cdef Py_ssize_t LAST_OPTIONS = slot_offset(Session, b"_last_options")
cdef Py_ssize_t IS_SHUTDOWN = slot_offset(Session, b"is_shutdown")

cdef Py_ssize_t OF_CONSISTENCY = slot_offset(Statement, b"consistency_level")
cdef Py_ssize_t OF_SERIAL = slot_offset(Statement, b"_serial_consistency_level")
cdef Py_ssize_t OF_FETCH_SIZE = slot_offset(Statement, b"fetch_size")
cdef Py_ssize_t OF_RETRY_POLICY = slot_offset(Statement, b"retry_policy")
cdef Py_ssize_t OF_PAYLOAD = slot_offset(Statement, b"custom_payload")
cdef Py_ssize_t OF_IDEMPOTENT = slot_offset(Statement, b"is_idempotent")
cdef Py_ssize_t HASH = slot_offset(Host, b"_hash")
cdef Py_ssize_t OF_PREPARED = slot_offset(BoundStatement, b"prepared_statement")

# Of what may be of any class.
cdef Place BY_HOST, IS_CLOSED, KEYSPACE, MANAGER, MODE, OPTIONS, PROFILES, VERSION

cdef Py_ssize_t FETCH_SIZE_AT = Options._fields.index("fetch_size")
cdef Py_ssize_t HANDLER_AT = Options._fields.index("protocol_handler")


cdef inline PyObject *checked(object self) except NULL:
    """A session, whose slots are where they are expected."""
    if not is_instance(self, <PyObject *>Session):
        raise TypeError(f"a SessionCore is needed, not a {type(self).__name__}")
    return <PyObject *>self


cdef object default_profile(PyObject *me):
    """As the property of the pure module."""
    cdef object manager = attribute(taken(me, CLUSTER), "profile_manager", &MANAGER)
    if attribute(manager, "mode", &MODE) is not _PROFILES:
        return taken(me, OWN_PROFILE)
    return attribute(manager, "profiles", &PROFILES)[_DEFAULT]


cdef object options_of(object self, object profile):
    """What a profile and this session ask of a request; as last time, if nothing changed."""
    cdef PyObject *me = <PyObject *>self
    cdef object last, known
    last, known = <tuple?>taken(me, LAST_OPTIONS)
    if (
        last is attribute(profile, "options", &OPTIONS)
        and <object>PyTuple_GET_ITEM(known, FETCH_SIZE_AT) is taken(me, FETCH_SIZE)
        and <object>PyTuple_GET_ITEM(known, HANDLER_AT) is taken(me, HANDLER)
    ):
        return known
    return self._options_of(profile)


cdef bint has_own_options(object statement) except -1:
    """Whether a statement asks for something; true of what is none, which ``merged`` refuses."""
    cdef PyObject *it = <PyObject *>statement
    if not is_instance(statement, <PyObject *>_Statement):
        return True
    return (
        taken(it, OF_CONSISTENCY) is not None
        or taken(it, OF_SERIAL) is not None
        or not is_instance(taken(it, OF_FETCH_SIZE), <PyObject *>_FetchSizeUnset)
        or taken(it, OF_RETRY_POLICY) is not None
        or PyObject_IsTrue(taken(it, OF_PAYLOAD))
    )


def request(
    self, execution, query, parameters=None, trace=False, custom_payload=None, timeout=_NOT_SET,
    execution_profile=_DEFAULT, paging_state=None, host=None, row_factory=None,
    more=None,
):
    """A request that executes a statement; see driver/cluster/session_core.py."""
    return made(
        self, execution, query, parameters, trace, custom_payload, timeout, execution_profile,
        paging_state, host, row_factory, more,
    )


cdef object new_request_of(
    object session, object execution, object query, object parameters, object trace,
    object custom_payload, object timeout, object execution_profile, object paging_state,
    object host, object row_factory, object more,
):
    """A request as the session makes it."""
    if has_method(session, "request", _request):
        return made(
            session, execution, query, parameters, trace, custom_payload, timeout,
            execution_profile, paging_state, host, row_factory, more,
        )
    return session.request(
        execution, query, parameters, trace, custom_payload, timeout, execution_profile,
        paging_state, host, row_factory, more,
    )


cdef object made(
    object self, object execution, object query, object parameters, object trace,
    object custom_payload, object timeout, object execution_profile, object paging_state,
    object host, object row_factory, object more,
):
    cdef PyObject *me = checked(self)
    cdef object options, message, prepared, speculation, cache
    cdef dict call = None
    if isinstance(query, str):
        query = _SimpleStatement(query)
    elif is_instance(query, <PyObject *>_PreparedStatement):
        query = bound_to(query, parameters)
        parameters = None
    if parameters is not None:
        cache = taken(me, PREPARED_CACHE)
        if cache is not None:
            query, parameters = cache.bound(query, parameters, more)
    if not (
        timeout is _NOT_SET
        and row_factory is None
        and custom_payload is None
        and paging_state is None
        and host is None
        and not trace
    ):
        call = self._options_of_call(
            trace, custom_payload, timeout, paging_state, host, row_factory
        )
    options = options_of(
        self, default_profile(me) if execution_profile is _DEFAULT
        else self.profile(execution_profile)
    )
    if call is not None or more or has_own_options(query):
        options = options.merged(query, call or {}, more)
    message = message_of(
        query,
        options,
        attribute(taken(me, CLUSTER), "protocol_version", &VERSION),
        taken(me, ENCODER),
        parameters or None,
        stamp_of(taken(me, TIMESTAMPS)) if taken(me, HAS_TIMESTAMP) else None,
    )
    prepared = speculation = None
    if is_instance(query, <PyObject *>_BoundStatement):
        prepared = taken(<PyObject *>query, OF_PREPARED)
    if taken(<PyObject *>query, OF_IDEMPOTENT):
        speculation = options.speculative_execution_policy.new_plan(
            query.keyspace or self.keyspace, query
        )
    return new_request(execution, self, message, query, options, prepared, speculation)


def query_plan(self, query, load_balancer=None, host=None, keyspace=None):
    """The hosts to ask for a statement, in order; see driver/cluster/session_core.py."""
    return planned(self, query, load_balancer, host, keyspace)


cdef object planned(
    object self, object query, object load_balancer, object host, object keyspace
):
    cdef PyObject *me = checked(self)
    if taken(me, IS_SHUTDOWN) or host is not None:
        return query_plan_plainly(self, query, load_balancer, host, keyspace)
    if load_balancer is None:
        load_balancer = default_profile(me).load_balancing_policy
    if not keyspace:
        keyspace = attribute(taken(me, POOLS), "keyspace", &KEYSPACE)
    return iter(load_balancer.make_query_plan(keyspace, query))


def pool_for(self, host):
    """The pool of a host; None if there is none that lends connections."""
    return pool_of(self, host)


cdef object pool_of(object self, object host):
    cdef object pools = attribute(taken(checked(self), POOLS), "by_host", &BY_HOST)
    cdef object pool
    cdef PyObject *found
    # What is borrowed from a dict that other threads change may be gone before it is counted.
    if not FREE_THREADED and type(host) is _Host and type(pools) is dict:
        # What its __hash__ would give.
        found = _PyDict_GetItem_KnownHash(pools, host, taken(<PyObject *>host, HASH))
        if found == NULL:
            return None
        pool = <object>found
    else:
        pool = pools.get(host)
    if pool is None or attribute(pool, "is_shutdown", &IS_CLOSED):
        return None
    return pool


cdef class Calls(SessionCalls):
    """What a request asks of a session, without a call of Python's where it is this module's."""

    cdef object query_plan(
        self, object session, object query, object policy, object host, object keyspace
    ):
        if has_method(session, "query_plan", _query_plan):
            return planned(session, query, policy, host, keyspace)
        return session.query_plan(query, policy, host, keyspace)

    cdef object pool_for(self, object session, object host):
        if has_method(session, "pool_for", _pool_for):
            return pool_of(session, host)
        return session.pool_for(host)


METHODS = {
    "SessionCore.request": request,
    "SessionCore.query_plan": query_plan,
    "SessionCore.pool_for": pool_for,
}

cdef object _request = request
cdef object _query_plan = query_plan
cdef object _pool_for = pool_for
use_calls(Calls())
