"""Compiled form of driver/aio/session.py: a statement sent and awaited, in one coroutine."""

from driver._cython.cluster.session_core cimport new_request_of
from driver._cython.execution.awaitable cimport (
    are_made,
    begin_waiting,
    end_waiting,
    page_of,
    rows_of,
)
from driver._cython.execution.request cimport send
from driver._cython.net.after_read cimport Waiter
from driver._cython.slots cimport Place, attribute

from ...aio import session as pure
from ...cluster.profiles import EXEC_PROFILE_DEFAULT, NOT_SET

__all__ = []

cdef Place CORE
cdef object _DEFAULT = EXEC_PROFILE_DEFAULT
cdef object _NOT_SET = NOT_SET
cdef object _Response = pure._Response


async def execute(
    self, query, parameters=None, timeout=_NOT_SET, trace=False, custom_payload=None,
    execution_profile=_DEFAULT, paging_state=None, host=None, *, row_factory=None, **options,
):
    """Execute a statement and wait for its first page; see driver/aio/session.py."""
    cdef Waiter waiter
    cdef object rows
    response = new_request_of(
        attribute(self, "core", &CORE), _Response, query, parameters, trace, custom_payload,
        timeout, execution_profile, paging_state, host, row_factory, options,
    )
    send(response)
    waiter = begin_waiting(response)
    if waiter is not None:
        try:
            await waiter
            waiter.result()
        finally:
            end_waiting(response, waiter)
    rows = rows_of(response)
    return page_of(response, rows) if are_made(rows) else await response


METHODS = {"Session.execute": execute}
