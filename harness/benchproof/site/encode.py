"""How numbers travel: base64 of little-endian arrays in small scripts, named after their content.

A page that was opened from the disk may not fetch a file, but it may run a script beside it; so
every piece of data is a script that gives itself a name: ``benchproof.give("name", {...})``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

#: Bytes of the digest in a file's name: a site has some thousand files.
_DIGEST = 6


def floats(values: ArrayLike) -> str:
    """Numbers as float32 in base64: seven digits, which is more than any meter can repeat."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode()


def places(values: ArrayLike) -> str:
    """Small whole numbers, below 65,536, as uint16 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<u2").tobytes()).decode()


def script(name: str, data: Any) -> bytes:  # noqa: ANN401  (whatever JSON can hold)
    """A script that gives the page a piece of data."""
    body = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return f"benchproof.give({json.dumps(name)},{body});\n".encode()


def digest(*parts: str | bytes) -> str:
    """A short name for content, or for a key of several parts."""
    content = b"\0".join(part.encode() if isinstance(part, str) else part for part in parts)
    return hashlib.blake2b(content, digest_size=_DIGEST).hexdigest()
