"""Contact points: names become the endpoints of their addresses."""

import asyncio

import pytest

from driver.cluster.contact_points import resolve_contact_points
from driver.protocol.errors import UnresolvableContactPoints
from driver.topology.endpoint import DefaultEndPoint, UnixSocketEndPoint


def resolve(points, names=None):
    """Resolve with a name service of our own."""

    async def getaddrinfo(host, port, **_):
        if host not in (names or {}):
            raise OSError(-2, "Name or service not known")
        return [(2, 1, 6, "", (address, port)) for address in names[host]]

    async def main():
        loop = asyncio.get_running_loop()
        loop.getaddrinfo = getaddrinfo
        return await resolve_contact_points(loop, points, 9042)

    return asyncio.run(main())


def test_addresses_take_the_default_port_unless_they_bring_one():
    assert resolve(["127.0.0.1", ("127.0.0.2", 9043)]) == [
        DefaultEndPoint("127.0.0.1", 9042),
        DefaultEndPoint("127.0.0.2", 9043),
    ]


def test_a_name_becomes_an_endpoint_for_each_of_its_addresses():
    found = resolve(["nodes.example"], {"nodes.example": ["10.0.0.1", "10.0.0.2"]})
    assert [str(endpoint) for endpoint in found] == ["10.0.0.1:9042", "10.0.0.2:9042"]


def test_an_address_that_is_named_twice_is_one_endpoint():
    assert len(resolve(["10.0.0.1", "a"], {"a": ["10.0.0.1"]})) == 1


def test_an_address_is_written_as_servers_write_it_and_no_name_service_is_asked():
    assert [str(endpoint) for endpoint in resolve(["2001:DB8:0::1"])] == ["2001:db8::1:9042"]


def test_endpoints_are_taken_as_they_are():
    endpoint = UnixSocketEndPoint("/run/cassandra.sock")
    assert resolve([endpoint]) == [endpoint]


def test_a_name_without_an_address_is_left_out(caplog):
    assert resolve(["10.0.0.1", "nowhere"]) == [DefaultEndPoint("10.0.0.1", 9042)]
    assert "nowhere" in caplog.text


def test_no_address_at_all_is_an_error_that_lists_the_names():
    with pytest.raises(UnresolvableContactPoints, match="nowhere"):
        resolve(["nowhere"])
