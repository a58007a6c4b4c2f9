"""The proof of awaited requests sees how many of them were in flight."""

from functools import partial

import pytest

from asv_benchmarks import awaited, case


@pytest.mark.parametrize(("claimed", "in_flight"), [(1, 2), (16, 15)])
def test_another_number_in_flight_is_found(monkeypatch, claimed, in_flight):
    row = awaited.CASES[claimed == 16]
    together = awaited._together
    monkeypatch.setattr(awaited, "_together", lambda *given: together(*given[:-1], in_flight))
    monkeypatch.setattr(awaited, "_one_by_one", partial(_two_at_a_time, together))
    function = case.benchmark(row, "time_awaited")
    with pytest.raises(AssertionError, match=f"{in_flight} in flight, not {claimed}"):
        function.prove()


def _two_at_a_time(together, execute, statement, values):
    return together(execute.__self__, statement, values, 2)
