"""Compiled form of driver/cluster/session.py: a statement sent, without a frame of Python's."""

from ...cluster.profiles import EXEC_PROFILE_DEFAULT, NOT_SET
from ...execution.response_future import ResponseFuture

__all__ = []

cdef object _DEFAULT = EXEC_PROFILE_DEFAULT
cdef object _NOT_SET = NOT_SET
cdef object _ResponseFuture = ResponseFuture


def execute_async(
    self, query, parameters=None, trace=False, custom_payload=None, timeout=_NOT_SET,
    execution_profile=_DEFAULT, paging_state=None, host=None, execute_as=None, *,
    row_factory=None, **options,
):
    """Send a statement and return at once; see driver/cluster/session.py."""
    cdef object future = self.core.request(
        _ResponseFuture, query, parameters, trace, custom_payload, timeout, execution_profile,
        paging_state, host, execute_as, row_factory, options,
    )
    future.send_request()
    return future


METHODS = {"Session.execute_async": execute_async}
