"""Conviction and address translation."""

import socket

import pytest

from driver.policies import (
    AddressTranslator,
    ConvictionPolicy,
    EC2MultiRegionTranslator,
    IdentityTranslator,
    SimpleConvictionPolicy,
    address_translation,
)
from driver.protocol.errors import OperationTimedOut
from driver.topology.host import Host


def test_every_failure_but_a_late_answer_convicts():
    host = Host("a", SimpleConvictionPolicy)
    assert host.conviction_policy.host is host
    assert host.signal_connection_failure(ConnectionResetError())
    assert not host.signal_connection_failure(OperationTimedOut())
    host.set_up()
    assert host.signal_connection_failure(ConnectionResetError())


def test_an_address_is_kept_by_default():
    assert IdentityTranslator().translate("10.0.0.1") == "10.0.0.1"


@pytest.fixture
def names(monkeypatch):
    """A name service: addresses by name, names by address."""
    addresses = {}

    def getaddrinfo(name, *_):
        if name not in addresses:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (addresses[name], 0))]

    monkeypatch.setattr(address_translation.socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(address_translation.socket, "getfqdn", lambda address: f"ec2-{address}")
    return addresses


def test_a_public_address_in_the_same_region_becomes_the_private_one(names):
    names.update({"54.1.2.3": "54.1.2.3", "ec2-54.1.2.3": "10.0.0.7"})
    assert EC2MultiRegionTranslator().translate("54.1.2.3") == "10.0.0.7"


def test_an_address_without_a_name_is_kept(names):
    names.update({"54.1.2.3": "54.1.2.3"})
    assert EC2MultiRegionTranslator().translate("54.1.2.3") == "54.1.2.3"


def test_what_is_no_address_is_an_error(names):
    assert names == {}
    with pytest.raises(OSError, match="unknown"):
        EC2MultiRegionTranslator().translate("nowhere")


def test_policies_must_answer():
    with pytest.raises(NotImplementedError):
        AddressTranslator().translate("a")
    with pytest.raises(NotImplementedError):
        ConvictionPolicy(None).add_failure(OSError())
    with pytest.raises(NotImplementedError):
        ConvictionPolicy(None).reset()
