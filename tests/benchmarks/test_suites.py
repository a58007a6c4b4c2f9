"""asv finds every case, by a name of its own, and times it as docs/benchmarks.md says."""

import asyncio
import inspect
import sys
import time
from collections import Counter
from importlib.metadata import version

import pytest
from asv_runner.discovery import get_benchmark_from_name

from asv_benchmarks import (
    arrow,
    awaited,
    bind,
    case,
    decode_rows,
    encode_message,
    execute_concurrent,
    query_path,
    result_dispatch,
    routing_key,
    serialize,
    tracing,
)
from driver.net.timers import TICK
from tests.benchmarks.places import SUITES

MODULES = (
    arrow,
    awaited,
    bind,
    decode_rows,
    encode_message,
    execute_concurrent,
    query_path,
    result_dispatch,
    routing_key,
    serialize,
    tracing,
)
ALL = [(module, row) for module in MODULES for row in module.CASES]

#: What the pull requests' tables and the first issue ask for.
WANTED = {
    *(
        f"encode_message.time_query_{size}_{compression}"
        for size in ("64b", "1kb", "16kb")
        for compression in ("plain", "lz4", "snappy")
    ),
    *(
        f"routing_key.time_{what}_{key}"
        for what in ("key_parts_packed", "pack_parts", "bound_statement")
        for key in ("single_int", "composite_of_three", "200_bytes")
    ),
    *(f"bind.time_vector_{dimension}" for dimension in (128, 768, 1536)),
    "bind.time_mixed_scalars_10",
    "bind.time_vector_1536_and_3_scalars",
    "execute_concurrent.time_point_selects",
    "awaited.time_point_selects_one_by_one",
    "awaited.time_point_selects_16_in_flight",
    *(f"decode_rows.time_names_and_types_{count}_columns" for count in (5, 10, 20, 50)),
    *(
        f"decode_rows.time_{rows}"
        for rows in [
            "one_row",
            "page_100",
            "page_5000",
            "wide_text",
            "vectors_128",
            "vectors_768",
            "vectors_1536",
            "collections",
            "udt",
        ]
    ),
    *(
        f"result_dispatch.time_{kind}"
        for kind in [
            "rows",
            "void",
            "set_keyspace",
            "schema_change",
            "prepared",
            "rows_with_next_page",
            "rows_with_tablet",
            "fetch_next_page",
        ]
    ),
}


def test_asv_discovers_every_case_and_nothing_else(benchmarks):
    names = {f"{m.__name__.rpartition('.')[2]}.time_{row.name}" for m, row in ALL}
    assert set(benchmarks) == names
    assert {benchmark.type for benchmark in benchmarks.values()} == {"time"}


def test_no_two_cases_have_the_same_name():
    assert Counter((m.__name__, row.name) for m, row in ALL).most_common(1)[0][1] == 1


def test_the_cases_of_the_published_tables_are_there(benchmarks):
    assert set(benchmarks) >= WANTED


def test_two_cases_with_one_name_are_refused():
    row = routing_key.CASES[0]
    with pytest.raises(ValueError, match="two cases are called"):
        case.install({}, [row, row])


def test_a_benchmark_is_a_plain_function_with_its_version_set_by_hand(benchmarks, benchmark_name):
    benchmark = benchmarks[benchmark_name]
    assert inspect.isfunction(benchmark.func)
    assert benchmark.func.__closure__ is None
    assert benchmark._params == []
    assert benchmark.version == benchmark.func.version
    assert len(benchmark.version) < 10, "a hash is not set by hand"
    assert benchmark.check(str(SUITES))


def test_no_two_cases_share_code_that_the_interpreter_specialises(benchmarks):
    codes = [id(benchmark.func.__code__) for benchmark in benchmarks.values()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", sorted(name for name in WANTED if name.startswith("awaited.")))
def test_what_is_counted_of_awaited_requests_follows_no_clock(benchmarks, name, monkeypatch):
    benchmarks[name].do_setup()
    timed = []
    monkeypatch.setattr(asyncio.BaseEventLoop, "call_at", lambda *how, **_: timed.append(how))
    time.sleep(2 * TICK)
    benchmarks[name].func()
    assert not timed


def test_setup_a_second_time_leaves_the_function_as_it_is(benchmarks):
    benchmark = benchmarks["decode_rows.time_one_row"]
    benchmark.do_setup()
    inputs = benchmark.func.__defaults__
    benchmark.do_setup()
    assert benchmark.func.__defaults__ is inputs


def test_asv_calls_a_fast_case_many_times_a_sample():
    benchmark = get_benchmark_from_name(
        str(SUITES), "routing_key.time_pack_parts_single_int", {"repeat": 1, "sample_time": 0.001}
    )
    assert benchmark.do_setup() is False
    assert benchmark.run()["number"] > 100, f"asv_runner {version('asv_runner')}"


def test_a_commit_without_what_is_measured_shows_as_not_applicable(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "driver.topology.token", None)
    row = next(row for row in routing_key.CASES if row.name == "murmur3_single_int")
    function = case.benchmark(row, "time_murmur3")
    with pytest.raises(NotImplementedError, match=r"time_murmur3.*driver\.topology\.token"):
        function.setup()
    benchmark = get_benchmark_from_name(str(SUITES), "routing_key.time_murmur3_single_int")
    benchmark._setups = [function.setup]
    assert benchmark.do_setup() is True, "asv skips it"
    assert "skipped" in capsys.readouterr().out


def test_a_case_that_cannot_be_set_up_for_another_reason_fails():
    row = case.Case("broken", routing_key._token, lambda: 1 / 0, (), ())
    with pytest.raises(ZeroDivisionError):
        case.benchmark(row, "time_broken").setup()
