#!/usr/bin/env python3
"""The process that fuzzes one target; scripts/fuzz starts it.

    FUZZ_TARGET=decoder worker.py [libFuzzer's options and folders]

Atheris instruments the pure driver (or the harness) while it is imported; the compiled one is a
black box, unless it was built with the coverage of libFuzzer (scripts/fuzz --sanitize).
"""

from __future__ import annotations

import logging
import os
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import atheris

TESTS = Path(__file__).resolve().parents[1]
# Behind a driver that was built for this, if PYTHONPATH has one.
sys.path += [str(TESTS), str(TESTS.parent)]

#: Seconds of processor time that an input of a few kilobytes may take at most.
SLOW = 5
#: What an input may become in memory: bytes for each of its own, and some for nothing.
GROWTH, LEAST = 1024, 8_000_000
#: One input in so many is measured: measuring takes several times as long as running.
MEASURED = 32


def main() -> None:
    """Fuzz."""
    name = os.environ["FUZZ_TARGET"]  # libFuzzer starts this process again with the same arguments
    logging.disable()  # of thousands of hostile inputs
    with atheris.instrument_imports(include=["driver_pure", "benchproof"]):
        from fuzz.targets import TARGETS, drivers

        if TARGETS[name].of_driver:
            drivers()
        check = TARGETS[name].check()
        check(b"")
        for seed in TARGETS[name].first():  # imports what is imported late
            check(seed)

    def one(data: bytes) -> None:
        measured = zlib.crc32(data) % MEASURED == 0
        if measured:
            tracemalloc.start()
        began = time.process_time()
        try:
            check(data)
            taken = time.process_time() - began
            assert taken < SLOW, f"{taken:.1f} s for {len(data)} bytes"
            if measured:
                most = tracemalloc.get_traced_memory()[1]
                limit = GROWTH * len(data) + LEAST
                assert most < limit, f"{most} bytes of memory for {len(data)} bytes"
        finally:
            if measured:
                tracemalloc.stop()

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
