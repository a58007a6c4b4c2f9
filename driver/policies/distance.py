"""Host distance: whether a host gets connections, and whether it is asked first."""

from __future__ import annotations

from typing import ClassVar


class HostDistance:
    """What a load balancing policy says of a host; plain numbers, as users compare them.

    Attributes:
        IGNORED: it gets no connection and no request.
        LOCAL: it is asked first, and has all the connections that a host can have.
        REMOTE: it is asked when no local host can answer.
    """

    IGNORED: ClassVar[int] = -1
    LOCAL: ClassVar[int] = 0
    REMOTE: ClassVar[int] = 1
