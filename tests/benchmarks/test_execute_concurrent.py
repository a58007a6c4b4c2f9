"""The proof of execute_concurrent sees how many requests were in flight."""

import pytest

from asv_benchmarks import case, execute_concurrent
from driver.execution import concurrent


@pytest.mark.parametrize("in_flight", [1, 100])
def test_another_number_in_flight_is_found(monkeypatch, in_flight):
    right = concurrent.execute_concurrent_async
    monkeypatch.setattr(
        concurrent,
        "execute_concurrent_async",
        lambda s, all_of_them, _: right(s, all_of_them, in_flight),
    )
    (row,) = execute_concurrent.CASES
    function = case.benchmark(row, "time_point_selects")
    with pytest.raises(AssertionError, match=f"{in_flight} in flight, not 16"):
        function.prove()


def test_a_request_that_failed_is_found():
    (row,) = execute_concurrent.CASES
    failed = concurrent.ExecutionResult(False, LookupError("no host"))
    with pytest.raises(AssertionError, match=r"one failed: .*no host"):
        row.prepare().check([failed] * execute_concurrent.REQUESTS)
