"""Compiled form of driver/cluster/session.py: a statement sent, without a frame of Python's."""

from driver._cython.cluster.session_core cimport new_request_of
from driver._cython.execution.request cimport send
from driver._cython.execution.response_future cimport sent_and_answered
from driver._cython.slots cimport Place, attribute, self_of

from ...cluster.profiles import EXEC_PROFILE_DEFAULT, NOT_SET
from ...execution.response_future import ResponseFuture

__all__ = []

cdef Place CORE
cdef object _DEFAULT = EXEC_PROFILE_DEFAULT
cdef object _NOT_SET = NOT_SET
cdef object _ResponseFuture = ResponseFuture


def execute_async(
    self, query, parameters=None, trace=False, custom_payload=None, timeout=_NOT_SET,
    execution_profile=_DEFAULT, paging_state=None, host=None, *, row_factory=None, **options,
):
    """Send a statement and return at once; see driver/cluster/session.py."""
    cdef object future = new_request_of(
        attribute(self, "core", &CORE), _ResponseFuture, query, parameters, trace,
        custom_payload, timeout, execution_profile, paging_state, host, row_factory, options,
    )
    send(future)
    return future


def execute(
    self, query, parameters=None, timeout=_NOT_SET, trace=False, custom_payload=None,
    execution_profile=_DEFAULT, paging_state=None, host=None, *, row_factory=None, **options,
):
    """Execute a statement and wait for its first page; see driver/cluster/session.py."""
    cdef object send_it = self.execute_async
    if self_of(send_it, _execute_async) is None:
        # Instrumentation wraps it, to see every request.
        return send_it(
            query, parameters, trace, custom_payload, timeout, execution_profile, paging_state,
            host, row_factory=row_factory, **options,
        ).result()
    return sent_and_answered(
        new_request_of(
            attribute(self, "core", &CORE), _ResponseFuture, query, parameters, trace,
            custom_payload, timeout, execution_profile, paging_state, host, row_factory, options,
        )
    )


METHODS = {"Session.execute": execute, "Session.execute_async": execute_async}
cdef object _execute_async = execute_async
