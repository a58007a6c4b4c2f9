"""The board of whole requests asks a real node: what clients insert is there, and is counted."""

import pytest
from against import sides
from against.board import members, results, running

pytestmark = [pytest.mark.once, pytest.mark.within(300)]


def member(way):
    return members.Member("cqlpath", way, sides.Side("cqlpath", "cqlpath"))


def test_all_answers_of_a_real_node_are_looked_at_and_every_case_has_numbers(one_node):
    those = [member(way) for way in members.WAYS]
    node = running.Asked(one_node.addresses[0], 9042, blocks=1, scale=0.01)
    running.fill(those[0], node.host, node.port)
    checked = running.check(those, node, lambda _: None)
    found = running.measure(those, checked, node, lambda _: None, 1)
    for way in members.WAYS:
        assert checked[way]["cqlpath"]["failed"] == {}
        numbers = found[way]["cqlpath"]
        assert set(numbers) == set(results.case_names())
        assert all(each["processor"][0] > 0 for each in numbers.values())


def test_a_node_that_is_not_there_is_an_error_of_one_line():
    with pytest.raises(sides.SideError, match=r"cqlpath: .*NoHostAvailable"):
        running.fill(member("threads"), "127.0.0.1", 1)
