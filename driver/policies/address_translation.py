"""Address translation: from the address that a node announces to one that can be reached."""

from __future__ import annotations

import socket


class AddressTranslator:
    """Translates the addresses of nodes that are learnt from the cluster.

    Attributes:
        may_wait: whether ``translate`` may wait, for a name service say. It is called on a thread
            where that is allowed then, in place of the event loop's.
    """

    may_wait: bool = True

    def translate(self, addr: str) -> str:
        """The address to connect to, for one that a node announces."""
        raise NotImplementedError


class IdentityTranslator(AddressTranslator):
    """Takes addresses as they are; the default."""

    may_wait = False

    def translate(self, addr: str) -> str:
        """The same address."""
        return addr


class EC2MultiRegionTranslator(AddressTranslator):
    """From the public address of a node in EC2 to its private one, if it is in the same region.

    Amazon's name service answers the public name of an instance with its private address, asked
    from within the region, and with its public one from elsewhere: a look-up there and back does
    it.
    """

    def translate(self, addr: str) -> str:
        """The address that the node's public name has from here; the given one if it has none.

        Raises:
            OSError: what is given is no address.
        """
        kind = socket.SOCK_STREAM
        family = socket.getaddrinfo(addr, 0, socket.AF_UNSPEC, kind)[0][0]
        name = socket.getfqdn(addr)
        try:
            return str(socket.getaddrinfo(name, 0, family, kind)[0][4][0])
        except OSError:
            return addr
