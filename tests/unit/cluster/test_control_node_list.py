"""Node list: rows of three tables become nodes; what makes no sense is left out and logged."""

import asyncio
import threading
from types import SimpleNamespace
from uuid import UUID, uuid4

import pytest

from driver.cluster.node_list import NodeReader
from driver.cluster.node_refresh import NodeRefresh
from driver.cluster.options import ClusterOptions
from driver.policies.address_translation import AddressTranslator, IdentityTranslator
from driver.policies.conviction import SimpleConvictionPolicy
from driver.topology.endpoint import DefaultEndPoint, DefaultEndPointFactory
from driver.topology.host import Host
from driver.topology.metadata import Metadata

CONTACT = DefaultEndPoint("contact", 9999)
ID = UUID(int=1)
LOCAL = {
    "key": "local",
    "cluster_name": "c",
    "partitioner": "Murmur3Partitioner",
    "host_id": ID,
    "data_center": "dc1",
    "rack": "r1",
    "release_version": "4.1.0",
    "rpc_address": "10.0.0.1",
    "rpc_port": 9042,
    "broadcast_address": "10.1.0.1",
    "broadcast_port": 7000,
    "listen_address": "10.2.0.1",
    "listen_port": 7001,
    "tokens": {"1"},
}


def peer(number=2, **changes):
    row = {
        "peer": f"10.1.0.{number}",
        "peer_port": 7000,
        "native_address": f"10.0.0.{number}",
        "native_port": 9043,
        "host_id": UUID(int=number),
        "data_center": "dc1",
        "rack": "r1",
        "release_version": "4.1.0",
        "tokens": {str(number)},
    }
    return {**row, **changes}


def node_list(*peers, local=LOCAL, tokens_required=True):
    reader = NodeReader(DefaultEndPointFactory(9042), tokens_required)
    return asyncio.run(reader.node_list(local, peers, CONTACT))


def ids(nodes):
    return [node_id.int for node_id in nodes.nodes]


def test_the_node_that_is_asked_keeps_the_endpoint_under_which_it_was_reached():
    nodes = node_list(peer())
    local, other = nodes.nodes.values()
    assert (local.endpoint, local.row_endpoint) == (CONTACT, DefaultEndPoint("10.0.0.1", 9042))
    assert other.endpoint == other.row_endpoint == DefaultEndPoint("10.0.0.2", 9043)
    assert (nodes.cluster_name, nodes.partitioner) == ("c", "Murmur3Partitioner")
    assert (nodes.release_version, nodes.local_host_id) == ("4.1.0", ID)


def test_a_host_found_under_another_node_s_address_moves_once_that_node_is_listed_there():
    metadata = Metadata()
    core = SimpleNamespace(
        metadata=metadata,
        options=SimpleNamespace(
            conviction_policy_factory=SimpleConvictionPolicy, token_metadata_enabled=False
        ),
        hosts=SimpleNamespace(add=lambda _: None, remove=lambda _: None),
    )
    refresh, reader = NodeRefresh(core), NodeReader(DefaultEndPointFactory(9042), False)
    one, two = (DefaultEndPoint(f"10.0.0.{number}", 9042) for number in (1, 2))

    def learn(local, *peers):
        asyncio.run(refresh.apply(asyncio.run(reader.node_list(local, peers, one))))
        return {host.host_id.int: host.endpoint for host in metadata.all_hosts()}

    # Of two nodes that exchanged their addresses for a while, nobody had heard of the second.
    astray = {**LOCAL, "host_id": UUID(int=2), "rpc_address": "10.0.0.2"}
    assert learn(astray, peer(1, native_port=9042)) == {2: one}
    assert learn(LOCAL, peer(2, native_port=9042)) == {1: one, 2: two}


def test_a_host_learns_what_the_rows_say():
    local, other = (Host("h"), Host("h"))
    nodes = list(node_list(peer()).nodes.values())
    nodes[0].describe(local)
    nodes[1].describe(other)
    assert (local.broadcast_address, local.broadcast_port) == ("10.1.0.1", 7000)
    assert (local.listen_address, local.listen_port) == ("10.2.0.1", 7001)
    assert (local.broadcast_rpc_address, local.broadcast_rpc_port) == ("10.0.0.1", 9042)
    assert (other.broadcast_address, other.broadcast_port) == ("10.1.0.2", 7000)
    assert (other.broadcast_rpc_address, other.broadcast_rpc_port) == ("10.0.0.2", 9043)
    assert (other.release_version, other.dse_version) == ("4.1.0", None)


def test_datastax_enterprise_says_what_a_node_is_for():
    host = Host("h")
    dse = peer(dse_version="6.8.0", workload="Search", workloads={"Search", "Graph"})
    list(node_list(dse).nodes.values())[1].describe(host)
    assert (host.dse_version, host.dse_workload) == ("6.8.0", "Search")
    assert host.dse_workloads == {"Search", "Graph"}


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::", None])  # noqa: S104  (not bound to)
def test_a_node_that_listens_everywhere_is_known_by_its_other_address(wildcard):
    host = Host("h")
    row = {k: v for k, v in peer(rpc_address=wildcard).items() if not k.startswith("native")}
    node = list(node_list(row).nodes.values())[1]
    node.describe(host)
    assert node.endpoint == DefaultEndPoint("10.1.0.2", 9042)
    assert (host.broadcast_rpc_address, host.broadcast_rpc_port) == ("10.1.0.2", None)


@pytest.mark.parametrize("missing", ["host_id", "data_center", "rack", "tokens"])
def test_a_row_that_lacks_something_is_skipped_and_logged(missing, caplog):
    nodes = node_list(peer(2, **{missing: None}), peer(3))
    assert ids(nodes) == [1, 3]
    assert f"lacks {missing}" in caplog.text
    assert "10.1.0.2" in caplog.text
    assert nodes.incomplete == (set() if missing == "host_id" else {UUID(int=2)})


def test_a_row_without_any_address_is_skipped_and_logged(caplog):
    row = peer(2, peer=None, native_address=None)
    assert ids(node_list(row)) == [1]
    assert "lacks an address" in caplog.text


def test_a_factory_that_raises_costs_one_node_only():
    class Picky(DefaultEndPointFactory):
        def create(self, row):
            if row["host_id"].int == 2:
                raise RuntimeError("not this one")
            return super().create(row)

    nodes = asyncio.run(NodeReader(Picky(9042), True).node_list(LOCAL, [peer(2), peer(3)], CONTACT))
    assert ids(nodes) == [1, 3]


def test_nodes_of_scylladb_may_own_no_tokens():
    assert ids(node_list(peer(tokens=None), tokens_required=False)) == [1, 2]


def test_tokens_that_were_not_asked_for_are_not_missed():
    row = peer()
    del row["tokens"]
    assert ids(node_list(row)) == [1, 2]


def test_the_node_that_is_asked_may_own_no_tokens():
    assert ids(node_list(local={**LOCAL, "tokens": None})) == [1]


def test_of_two_rows_with_one_host_id_the_first_counts(caplog):
    nodes = node_list(peer(2), peer(2, native_address="10.0.0.9"), peer(1))
    assert ids(nodes) == [1, 2]
    assert nodes.nodes[UUID(int=2)].endpoint.address == "10.0.0.2"
    assert caplog.text.count("second row of host id") == 2


def test_of_two_rows_with_one_endpoint_the_first_counts(caplog):
    twin = peer(3, native_address="10.0.0.2")
    behind_the_contact_point = peer(4, native_address="10.0.0.1", native_port=9042)
    assert ids(node_list(peer(2), twin, behind_the_contact_point)) == [1, 2]
    assert caplog.text.count("second row with the endpoint") == 2


def test_without_a_row_of_its_own_a_node_is_not_in_its_list():
    nodes = node_list(peer(2), local=None)
    assert ids(nodes) == [2]
    assert nodes.local_host_id is None


def test_a_skipped_row_of_a_node_that_is_listed_elsewhere_is_no_loss():
    nodes = node_list(peer(2), peer(2, rack=None))
    assert (ids(nodes), nodes.incomplete) == ([1, 2], frozenset())


def test_host_ids_are_kept_as_they_are():
    row = peer(host_id=uuid4())
    assert row["host_id"] in node_list(row).nodes


# --- factories that wait -------------------------------------------------------------------------


class Waiting(AddressTranslator):
    """Answers when it may, and remembers where it was asked."""

    def __init__(self):
        self.may_answer = threading.Event()
        self.asked = []

    def translate(self, addr):
        assert self.may_answer.wait(30)
        self.asked.append((addr, threading.current_thread()))
        return addr.replace("10.0", "192.168")


def reader_with(translator):
    factory = DefaultEndPointFactory(9042)
    return NodeReader(factory.configure(ClusterOptions(address_translator=translator)), True)


def test_a_translator_that_waits_keeps_nobody_else_waiting_and_the_order_of_the_rows():
    translator = Waiting()

    async def run():
        reading = asyncio.create_task(
            reader_with(translator).node_list(LOCAL, [peer(3), peer(2)], CONTACT)
        )
        await asyncio.sleep(0)
        assert not reading.done()
        translator.may_answer.set()  # the loop has come this far although the translator waits
        nodes = await reading
        assert ids(nodes) == [1, 3, 2]
        assert [node.row_endpoint.address for node in nodes.nodes.values()] == [
            "192.168.0.1",
            "192.168.0.3",
            "192.168.0.2",
        ]
        assert [addr for addr, _ in translator.asked] == ["10.0.0.1", "10.0.0.3", "10.0.0.2"]
        assert threading.current_thread() not in {thread for _, thread in translator.asked}

    asyncio.run(run())


def test_reading_can_be_cancelled_while_a_translator_waits():
    translator = Waiting()

    async def run():
        reading = asyncio.create_task(reader_with(translator).node(peer(2)))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert translator.asked == []
        translator.may_answer.set()

    asyncio.run(run())


def test_translators_that_cannot_wait_need_no_thread():
    assert not DefaultEndPointFactory().may_wait
    for translator, may_wait in (
        (IdentityTranslator(), False),
        (Waiting(), True),
        (object(), True),
    ):
        assert reader_with(translator)._factory.may_wait is may_wait
