"""The worker's end of a conversation: it asks the harness, which hears both sides, what to do next.

One JSON object a line, through a file descriptor that the worker was started with. The worker waits
for an answer in one read, so that waiting is the same work however long it takes.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Longer than any answer.
_MOST = 4096


def tell(descriptor: int, message: Mapping[str, Any]) -> None:
    """Say something; nobody answers."""
    rest = (json.dumps(message) + "\n").encode()
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def ask(descriptor: int, message: Mapping[str, Any]) -> Any:  # noqa: ANN401  (what JSON holds)
    """Say something and wait for the answer; None where there is nobody to give one."""
    tell(descriptor, message)
    return json.loads(os.read(descriptor, _MOST) or b"null")
