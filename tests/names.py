"""Names of parametrised tests: the same in every process that shares the work."""

import re

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def plain(value: object) -> str:
    """What a value looks like, without where it lies."""
    return _ADDRESS.sub("", repr(value))
