"""Schema agreement: who has to agree, how long that is waited for, and what a scope may be."""

import asyncio
from uuid import UUID

import pytest
from control_core import on_a_loop
from hypothesis import given
from hypothesis import strategies as st

from driver.cluster import schema_agreement
from driver.cluster.schema_agreement import (
    NodeSchema,
    SchemaAgreementScope,
    check_scope,
    schema_versions,
    wait_for_schema_agreement,
)
from driver.net.errors import ConnectionShutdown
from driver.protocol.errors import OperationTimedOut

OLD, NEW = UUID(int=1), UUID(int=2)


def node(version=NEW, dc="dc1", rack="r1", *, is_up=True, name="n"):
    return NodeSchema(version, dc, rack, is_up, name)


class Cluster:
    """Answers each question with the next list of nodes; with the last one in the end."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(schema_agreement, "POLL_INTERVAL", 0.001)


@pytest.mark.parametrize("wait_time", [0, -1, 10])
@pytest.mark.parametrize("scope", ["host", "", "Cluster", None, 3])
def test_an_unknown_scope_is_refused_before_anything_is_asked(scope, wait_time):
    cluster = Cluster([node()])
    with pytest.raises(ValueError, match="'cluster', 'dc', 'rack'"):
        asyncio.run(wait_for_schema_agreement(cluster, wait_time, scope))
    assert cluster.asked == 0


@on_a_loop
async def test_nodes_that_agree_are_asked_once():
    cluster = Cluster([node(), node()])
    assert await wait_for_schema_agreement(cluster, 10)
    assert cluster.asked == 1


@on_a_loop
async def test_without_time_nobody_is_asked():
    cluster = Cluster([node(OLD), node(NEW)])
    assert await wait_for_schema_agreement(cluster, 0)
    assert cluster.asked == 0


@on_a_loop
async def test_they_are_asked_until_they_agree():
    cluster = Cluster([node(OLD), node(NEW)], OperationTimedOut(), [node(NEW), node(NEW)])
    assert await wait_for_schema_agreement(cluster, 10)
    assert cluster.asked == 3


@on_a_loop
async def test_it_is_waited_for_no_longer_than_allowed(caplog):
    cluster = Cluster([node(OLD, name="one"), node(NEW, name="two")])
    assert not await wait_for_schema_agreement(cluster, 0.05)
    assert cluster.asked > 1
    assert "one" in caplog.text
    assert "two" in caplog.text


@on_a_loop
async def test_a_question_that_is_never_answered_does_not_hold_it_up():
    async def never():
        await asyncio.Event().wait()

    assert not await wait_for_schema_agreement(never, 0.02)


@on_a_loop
async def test_a_connection_that_is_lost_is_the_callers_to_know():
    with pytest.raises(ConnectionShutdown):
        await wait_for_schema_agreement(Cluster(ConnectionShutdown("lost")), 10)


@pytest.mark.parametrize(
    ("scope", "other", "counts"),
    [
        ("cluster", node(OLD), True),
        ("cluster", node(OLD, "dc2"), True),
        ("cluster", node(OLD, is_up=False), False),
        ("cluster", node(None), False),
        ("dc", node(OLD, "dc1", "r2"), True),
        ("dc", node(OLD, "dc2"), False),
        ("dc", node(OLD, is_up=False), False),
        ("rack", node(OLD, "dc1", "r1"), True),
        ("rack", node(OLD, "dc1", "r2"), False),
        ("rack", node(OLD, "dc2", "r1"), False),
        ("rack", node(OLD, is_up=False), False),
    ],
    ids=str,
)
@on_a_loop
async def test_those_nodes_count_that_are_up_and_in_the_scope(scope, other, counts):
    agreed = await wait_for_schema_agreement(Cluster([node(NEW), other]), 0.01, scope)
    assert agreed is not counts


def test_the_node_that_is_asked_counts_even_if_it_is_not_known_to_be_up():
    versions = schema_versions([node(OLD, is_up=False), node(NEW)], SchemaAgreementScope.CLUSTER)
    assert versions == {OLD: ["n"], NEW: ["n"]}


nodes = st.lists(
    st.builds(
        NodeSchema,
        st.sampled_from([OLD, NEW]),
        st.sampled_from(["dc1", "dc2"]),
        st.sampled_from(["r1", "r2"]),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


@given(nodes)
def test_who_agrees_in_a_scope_agrees_in_every_smaller_one(cluster):
    wide = [len(schema_versions(cluster, check_scope(s))) for s in ("cluster", "dc", "rack")]
    assert wide == sorted(wide, reverse=True)
    assert wide[-1] >= 1
