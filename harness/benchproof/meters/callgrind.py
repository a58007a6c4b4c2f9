"""Switches callgrind on where counting begins: around it a program runs several times as fast.

Valgrind listens for requests of the program that it runs: a sequence of instructions that does
nothing elsewhere (valgrind's manual, "The Client Request mechanism"). C programs have macros for
it; here its few bytes are written into a page of memory and called by `ctypes`, so that nothing has
to be compiled. Only for x86-64 under Linux: elsewhere, and where such a page is forbidden,
callgrind counts from the start, as it does without this.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Callable
from functools import cache

#: ``--instr-atstart=no`` leaves callgrind off until it is asked.
OFF = "--instr-atstart=no"
#: Callgrind's fifth and sixth request after the base of its letters; their arguments are unused.
_START = (ord("C") << 24) + (ord("T") << 16) + 4
_STOP = _START + 1
#: rax: the request's address; rdx: the answer where nobody listens; four rotations that together
#: turn rdi once around, and an exchange of rbx with itself: what valgrind looks for; the answer.
_CODE = bytes.fromhex(
    "4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3".replace(" ", "")
)


@cache
def _switch() -> Callable[[int], object] | None:
    """What makes a request of callgrind, or None where it cannot be had."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return None
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(_CODE)
    first = ctypes.c_char.from_buffer(page)
    call = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(ctypes.addressof(first))

    # The page lives as long as this function.
    def switch(request: int, keep: ctypes.c_char = first) -> None:
        del keep
        call((ctypes.c_ulong * 6)(request))

    return switch


def can_start_late() -> bool:
    """Whether a worker on this machine can switch callgrind on."""
    return _switch() is not None


@cache
def start() -> None:
    """In the worker: count from now on; nothing where callgrind counts already, or is not there."""
    _ask(_START)


def stop() -> None:
    """In the worker, once nothing more is counted: what is left runs several times as fast."""
    _ask(_STOP)


def _ask(request: int) -> None:
    if (switch := _switch()) is not None:
        switch(request)
