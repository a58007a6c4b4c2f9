"""Mocks made after the driver's classes have what its objects have."""

import re
from inspect import getdoc
from unittest.mock import Mock

import pytest

from driver import aio
from driver.cluster import Cluster, Session
from driver.topology.host import Host


def public(thing):
    return {name for name in vars(thing) if not name.startswith("_")}


def test_a_mock_of_a_host_has_every_attribute_of_one():
    # Python 3.13 takes the indentation out of docstrings by itself.
    mock, documented = Mock(spec=Host), re.findall(r"^    (\w+):", getdoc(Host), re.MULTILINE)
    assert len(documented) > 15
    names = {*documented, *public(Host("127.0.0.1"))}
    assert [name for name in names if not hasattr(mock, name)] == []
    with pytest.raises(AttributeError):
        _ = mock.no_such_attribute


@pytest.mark.parametrize("kind", [Cluster, aio.Cluster])
def test_a_mock_of_a_cluster_has_every_attribute_of_one(kind):
    mock = Mock(spec=kind)
    assert [name for name in public(kind()) if not hasattr(mock, name)] == []


@pytest.mark.parametrize("kind", [Session, aio.Session])
def test_a_mock_of_a_session_has_every_attribute_of_one(kind):
    mock = Mock(spec=kind)
    session = kind(Mock(), Mock())
    assert [name for name in public(session) if not hasattr(mock, name)] == []
    assert public(session) == {"cluster", "core"}
