"""The query path of the benchmarks is the real one, and it is the same in every process."""

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import driver
from asv_benchmarks import case, query_path, system_rows
from driver.net.connection import Connection
from driver.policies.load_balancing import DCAwareRoundRobinPolicy, TokenAwarePolicy
from tests.benchmarks.places import ROOT

PROBE = """
import json, sys
from asv_benchmarks import query_path
found = {}
for name in ("time_point_select", "time_range_select"):
    function = vars(query_path)[name]
    function.setup()
    found[name] = function.prove()["probe"]
json.dump(found, sys.stdout)
"""
WHOLES = ("point_select", "range_select")


@pytest.fixture(scope="module", params=WHOLES)
def request_of(request):
    return query_path.request(request.param)


def execute(made):
    future = made.session.execute_async(made.statement, made.select.values)
    made.ring.deliver()
    return future


def test_both_requests_have_the_same_hops():
    hops = {
        whole: {c.name.removeprefix(whole) for c in query_path.CASES if c.part_of == whole}
        for whole in WHOLES
    }
    assert hops["point_select"] == hops["range_select"]
    assert len(hops["point_select"]) == len(query_path.HOPS) + 1
    assert {c.name for c in query_path.CASES if not c.part_of} == set(WHOLES)


def test_a_whole_reaches_whatever_its_hops_reach():
    cases = {c.name: c for c in query_path.CASES}
    for hop in cases.values():
        if hop.part_of:
            assert set(hop.reaches) <= set(cases[hop.part_of].reaches), hop.name


def test_a_function_names_the_whole_that_it_is_a_part_of():
    assert query_path.time_point_select_bind.part_of == "time_point_select"
    assert query_path.time_point_select.part_of == ""


def test_the_session_is_the_real_one_with_a_pool_for_each_node(request_of):
    pools = request_of.core.pools.by_host
    assert [host.endpoint.address for host in pools] == list(system_rows.ADDRESSES)
    assert [pool.open_count for pool in pools.values()] == [1, 1, 1]
    policy = request_of.policy
    assert isinstance(policy, TokenAwarePolicy)
    assert isinstance(policy._child_policy, DCAwareRoundRobinPolicy)
    assert isinstance(request_of.connection, Connection)
    assert type(request_of.connection).send_msg is Connection.send_msg


def test_the_node_sees_the_request_that_was_made(request_of):
    request_of.ring.forget_answers()
    execute(request_of)
    body = request_of.ring.executed()[-1]
    values = request_of.statement.bind(request_of.select.values).values
    assert request_of.statement.query_id in body
    assert all(len(v).to_bytes(4) + v in body for v in values)


def test_replicas_differ_with_the_key():
    made = query_path.request("range_select")
    first = {
        next(made.core.query_plan(made.statement.bind((key,)), made.policy)) for key in range(20)
    }
    assert len(first) == 3


#: Files of the driver, and Python calls in them, that one prepared SELECT passes.
PASSES = {"python": (30, 99), "cython": (0, 0)}


def test_a_prepared_select_passes_no_more_files_and_calls_than_it_did():
    made, passed = query_path.request("point_select"), []
    root = f"{Path(driver.__file__).parent}{os.sep}"

    def count(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(root):
            passed.append(frame.f_code.co_filename)

    # Often before: the in-memory server makes an answer once for each stream.
    for counts in (*[False] * 300, True):
        sys.setprofile(count if counts else None)
        try:
            row = execute(made).result().one()
        finally:
            sys.setprofile(None)
    assert row.sensor == 1
    assert (len(set(passed)), len(passed)) <= PASSES[driver.IMPL]
    assert len(passed) <= PASSES[driver.IMPL][1]


def test_the_answer_comes_when_it_is_delivered_and_not_before(request_of):
    future = request_of.session.execute_async(request_of.statement, request_of.select.values)
    assert not future.is_done
    assert request_of.core.timers.pending == 1
    request_of.ring.deliver()
    assert future.is_done
    assert request_of.core.timers.pending == 0


def test_a_request_leaves_nothing_behind(request_of):
    loop = request_of.core.loop
    execute(request_of)
    assert not loop.is_running()
    assert not asyncio.all_tasks(loop)
    # The first timer of all asks the loop for a tick, which never comes; the others do not.
    ready = len(loop._ready)
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            execute(request_of)
        assert gc.collect() == 0
    finally:
        gc.enable()
    assert len(loop._ready) == ready
    assert request_of.connection.in_flight == 0
    assert not request_of.waiting


def test_chance_has_no_part_in_it(request_of):
    state = random.getstate()
    plans = set()
    for seed in range(5):
        random.seed(seed)
        before = random.getstate()
        plans.add(str(execute(request_of).attempted_hosts))
        assert random.getstate() == before
    random.setstate(state)
    assert len(plans) == 1


@pytest.mark.parametrize("impl", ["python", "cython"])
def test_two_processes_make_the_same_calls(impl):
    if impl == "cython" and driver.implementation._missing():
        pytest.skip("nothing is compiled here")
    probes = [
        subprocess.run(
            [sys.executable, "-c", PROBE],
            env={**os.environ, "DRIVER_IMPL": impl, "PYTHONPATH": str(ROOT),
                 "PYTHONHASHSEED": seed},
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert json.loads(probes[0]) == json.loads(probes[1])


@pytest.fixture
def fresh():
    query_path.request.cache_clear()
    yield
    query_path.request.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_a_commit_without_sessions_shows_as_not_applicable(monkeypatch):
    monkeypatch.setitem(sys.modules, "driver.cluster.cluster", None)
    with pytest.raises(NotImplementedError, match=r"time_x: .*driver\.cluster\.cluster"):
        fresh_benchmark().setup()


@pytest.mark.usefixtures("fresh")
def test_a_commit_whose_connections_need_sockets_shows_as_not_applicable(monkeypatch):
    monkeypatch.delattr(Connection, "open_transport")
    with pytest.raises(NotImplementedError, match="cannot do without a socket"):
        fresh_benchmark().setup()


def fresh_benchmark():
    (row,) = (c for c in query_path.CASES if c.name == "point_select")
    return case.benchmark(row, "time_x")


def test_a_hop_with_another_answer_than_the_request_needs_is_refused():
    hop = query_path.HOPS["plan"]
    prepared = query_path.hop("point_select", hop.inputs, hop.answer, hop.holds)
    with pytest.raises(AssertionError, match="not what the request needs: 'another host'"):
        prepared.check("another host")


def test_a_whole_with_another_row_is_refused():
    prepared = query_path.whole("point_select")
    row = execute(query_path.request("point_select")).result().one()
    prepared.check(row)
    with pytest.raises(AssertionError, match="not the recorded row"):
        prepared.check(row._replace(sensor=2))


def test_a_table_that_the_ring_does_not_have_is_none():
    assert system_rows.answer("SELECT * FROM system_schema.tables", 0) is None
