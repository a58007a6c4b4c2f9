"""scripts/against-peers asks a real node through this driver and through cassandra-driver."""

import pytest

from scripts.against import measuring, report, sides
from scripts.against.requests import LOADS

pytestmark = [pytest.mark.once, pytest.mark.within(300)]


def test_both_drivers_ask_a_node_and_every_load_has_a_number_of_each_block(one_node):
    pytest.importorskip("cassandra", reason="cassandra-driver is not installed")
    chosen = [sides.Side("ours", "ours"), sides.Side("theirs", "theirs")]
    node = measuring.Node(one_node.addresses[0], blocks=3, scale=0.02)
    found = measuring.ask(chosen, node, lambda _: None)
    for side in chosen:
        for meter in report.REQUESTS:
            numbers = found[side.name][meter]
            assert set(numbers) == {load.name for load in LOADS}
            assert all(len(each) == 3 and min(each) > 0 for each in numbers.values())


def test_a_node_that_is_not_there_is_an_error_of_one_line():
    side = sides.Side("ours", "ours")
    with pytest.raises(sides.SideError, match=r"ours: .*NoHostAvailable"):
        measuring.ask([side], measuring.Node("127.0.0.1", port=1), lambda _: None)
