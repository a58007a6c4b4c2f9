"""The cluster's metadata: hosts by id and address, and a schema that is replaced part by part."""

from uuid import UUID

import pytest

from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint
from driver.topology.host import Host
from driver.topology.metadata import Metadata
from driver.topology.schema.column import ColumnMetadata
from driver.topology.schema.function import Aggregate, Function
from driver.topology.schema.keyspace import KeyspaceMetadata
from driver.topology.schema.table import MaterializedViewMetadata, TableMetadata
from driver.topology.schema.user_type import UserType
from driver.topology.tablets import Tablet


def host(number, address=None, port=9042):
    return Host(DefaultEndPoint(address or f"10.0.0.{number}", port), host_id=UUID(int=number))


@pytest.fixture
def metadata():
    return Metadata()


class TestHosts:
    def test_a_host_is_found_by_endpoint_address_and_id(self, metadata):
        one, two = host(1), host(2)
        metadata.add_or_return_host(one)
        metadata.add_or_return_host(two)
        assert metadata.get_host(DefaultEndPoint("10.0.0.2")) is two
        assert metadata.get_host("10.0.0.1") is one
        assert metadata.get_host_by_host_id(UUID(int=2)) is two
        assert metadata.all_hosts_items() == [(UUID(int=1), one), (UUID(int=2), two)]
        assert metadata.get_host("10.0.0.3") is None
        assert metadata.get_host(DefaultEndPoint("10.0.0.2", 1)) is None
        assert metadata.get_host_by_host_id(UUID(int=3)) is None

    def test_a_port_tells_hosts_of_one_address_apart(self, metadata):
        one, two = host(1, "10.0.0.1", 9042), host(2, "10.0.0.1", 9043)
        metadata.add_or_return_host(one)
        metadata.add_or_return_host(two)
        assert metadata.get_host("10.0.0.1", 9043) is two
        assert metadata.get_host("10.0.0.1", 9044) is None
        assert metadata.get_host("10.0.0.1") is one

    def test_an_announced_address_counts_more_than_the_translated_one(self, metadata):
        one = host(1, "translated")
        one.broadcast_rpc_address, one.broadcast_rpc_port = "10.0.0.1", 9050
        metadata.add_or_return_host(one)
        assert metadata.get_host("10.0.0.1", 9050) is one
        assert metadata.get_host("10.0.0.1", 9042) is None
        assert metadata.get_host("translated") is None

    def test_a_host_without_a_port_is_found_with_any(self, metadata):
        one = Host(UnixSocketEndPoint("/run/x"), host_id=UUID(int=1))
        metadata.add_or_return_host(one)
        assert metadata.get_host("/run/x", 9042) is one

    def test_a_host_that_moved_is_found_at_its_new_endpoint_alone(self, metadata):
        one = host(1)
        metadata.add_or_return_host(one)
        old, one.endpoint = one.endpoint, DefaultEndPoint("10.0.0.9")
        metadata.update_host(one, old)
        assert metadata.get_host(DefaultEndPoint("10.0.0.9")) is one
        assert metadata.get_host(old) is None
        assert metadata.all_hosts() == [one]

    def test_a_removed_host_leaves_its_endpoint_to_the_next(self, metadata):
        old, new = host(1), host(2, "10.0.0.1")
        metadata.add_or_return_host(old)
        metadata.add_or_return_host(new)
        assert metadata.remove_host_by_host_id(old.host_id)
        assert metadata.get_host(DefaultEndPoint("10.0.0.1")) is new
        assert not metadata.remove_host_by_host_id(old.host_id, old.endpoint)
        assert metadata.remove_host(new)
        assert metadata.get_host(DefaultEndPoint("10.0.0.1")) is None

    def test_a_host_without_an_id_was_never_known(self, metadata):
        assert not metadata.remove_host(Host("10.0.0.1"))

    def test_any_partitioner_is_supported(self, metadata):
        assert metadata.can_support_partitioner()


def keyspace(factor="1", name="ks"):
    return KeyspaceMetadata(name, True, "SimpleStrategy", {"replication_factor": factor})


class TestPlacement:
    @pytest.fixture(autouse=True)
    def ring(self, metadata):
        self.hosts = [host(1), host(2)]
        for one in self.hosts:
            metadata.add_or_return_host(one)
        metadata.set_keyspaces({"ks": keyspace(), "other": keyspace(name="other")})
        tokens = dict(zip(self.hosts, (["10"], ["20"]), strict=True))
        metadata.rebuild_token_map("ByteOrderedPartitioner", tokens)
        metadata.tablets.add_tablet("ks", "t", Tablet(0, 5, ((UUID(int=1), 0),)))
        assert metadata.get_replicas("ks", b"\x05") == [self.hosts[0]]

    def test_the_same_replication_keeps_replicas_and_tablets(self, metadata):
        known = metadata.token_map.tokens_to_hosts_by_ks["ks"]
        metadata.set_keyspace("ks", keyspace())
        assert metadata.token_map.tokens_to_hosts_by_ks["ks"] is known
        assert metadata.tablets.table_has_tablets("ks", "t")

    @pytest.mark.parametrize("whole", [True, False])
    def test_another_replication_places_anew(self, metadata, whole):
        if whole:
            metadata.set_keyspaces({"ks": keyspace("2")})
        else:
            metadata.set_keyspace("ks", keyspace("2"))
        assert metadata.get_replicas("ks", b"\x05") == self.hosts
        assert not metadata.tablets.table_has_tablets("ks", "t")
        assert ("other" in metadata.keyspaces) is not whole

    def test_a_dropped_keyspace_has_no_replicas(self, metadata):
        before = metadata.keyspaces
        metadata.set_keyspace("ks", None)
        assert metadata.get_replicas("ks", b"\x05") == []
        assert "ks" not in metadata.keyspaces
        assert "ks" in before, "a reader's mapping does not change under it"

    def test_a_dropped_table_loses_its_tablets(self, metadata):
        metadata.set_table("ks", "t", None)
        assert not metadata.tablets.table_has_tablets("ks", "t")


class TestParts:
    @pytest.fixture(autouse=True)
    def known(self, metadata):
        metadata.set_keyspace("ks", keyspace())
        self.ks = metadata.keyspaces["ks"]

    def test_tables_and_views_come_and_go(self, metadata):
        table = TableMetadata("ks", "t")
        table.partition_key = [ColumnMetadata(table, "k", "int")]
        view = MaterializedViewMetadata("ks", "v", "t", True, "", None)
        metadata.set_table("ks", "t", table)
        metadata.set_table("ks", "v", view)
        assert metadata.table("ks", "t") is table
        assert table.views == {"v": view}
        metadata.set_table("ks", "v", None)
        assert table.views == {}
        metadata.set_table("ks", "t", None)
        assert metadata.table("ks", "t") is None

    def test_types_come_and_go(self, metadata):
        metadata.set_user_type("ks", "u", UserType("ks", "u", ["a"], ["int"]))
        assert list(self.ks.user_types) == ["u"]
        metadata.set_user_type("ks", "u", None)
        assert self.ks.user_types == {}

    def test_functions_that_share_a_name_come_and_go_alone(self, metadata):
        for cql_type in ("int", "frozen<list<text>>"):
            function = Function("ks", "f", [cql_type], ["a"], "int", "java", "", True)
            metadata.set_function("ks", "f", [cql_type], function)
        assert set(self.ks.functions) == {"f(int)", "f(frozen<list<text>>)"}
        metadata.set_function("ks", "f", ("list<text>",), None)
        assert set(self.ks.functions) == {"f(int)"}

    def test_aggregates_come_and_go(self, metadata):
        aggregate = Aggregate("ks", "a", ["int"], "f", "int", None, None, "int")
        metadata.set_aggregate("ks", "a", ["int"], aggregate)
        assert set(self.ks.aggregates) == {"a(int)"}
        metadata.set_aggregate("ks", "a", ("int",), None)
        assert self.ks.aggregates == {}

    def test_holders_of_functions_and_aggregates_see_those_that_come_later(self, metadata):
        held = self.ks.functions, self.ks.aggregates
        function = Function("ks", "f", ["int"], ["a"], "int", "java", "", True)
        metadata.set_function("ks", "f", ["int"], function)
        aggregate = Aggregate("ks", "a", ["int"], "f", "int", None, None, "int")
        metadata.set_aggregate("ks", "a", ["int"], aggregate)
        assert held == ({"f(int)": function}, {"a(int)": aggregate})
        altered = keyspace(name="ks")
        altered.functions["g(int)"] = function
        metadata.set_keyspace("ks", altered)
        assert metadata.keyspaces["ks"] is altered
        assert (altered.functions, altered.aggregates) == held == ({"g(int)": function}, {})
        assert altered.functions is held[0]

    def test_parts_of_an_unknown_keyspace_wait_for_it(self, metadata):
        metadata.set_table("new", "t", TableMetadata("new", "t"))
        metadata.set_user_type("new", "u", None)
        metadata.set_function("new", "f", [], None)
        metadata.set_aggregate("new", "a", [], None)
        assert set(metadata.keyspaces) == {"ks"}

    def test_the_export_has_every_keyspace(self, metadata):
        metadata.set_keyspace("a", keyspace(name="a"))
        text = metadata.export_schema_as_string()
        assert text.index("CREATE KEYSPACE a ") < text.index("CREATE KEYSPACE ks ")
