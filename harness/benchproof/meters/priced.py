"""What a callgrind dump says, without what depends on where things happened to lie in memory.

Two kinds of C functions cost more or less for the same work, and any edit anywhere moves them:

- *Allocators.* Whether a block is the last of its pool, whether its neighbour is free, whether a
  free list has to be searched: 20 to 250 instructions a call, up to 1 % of a case.
- *The method cache.* It has 4,096 places and hashes addresses. Two names that collide there cost
  two searches through base classes at every call, for the life of a process: 600 instructions, 2 %.

So each call of them has a fixed price, near what it costs on average. What differed by 0.3 to 2.8 %
for code that is equal but for a comment then differs by 0.00 % nearly always (docs/meters.md).
One more allocation still costs; *how many* and *how large* have meters of their own.

A miss of the method cache counts in full where the case itself makes or changes types: then it is
the case's own doing.

Names come from symbol tables. Where a library has none (stripped), the static functions behind an
exported allocator are recognised by who calls them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

#: Instructions for a call of an allocator: Python's own, and the C library's.
PYTHON_PRICE, C_PRICE = 45, 120
#: For a look-up through the method cache: what a hit costs.
LOOKUP_PRICE = 30

_OF_PYTHON = {
    f"{prefix}_{verb}"
    for prefix in ("PyObject", "_PyObject", "PyMem", "_PyMem")
    for verb in ("Malloc", "Calloc", "Realloc", "Free")
}
_OF_C = {
    *(f"{prefix}_Raw{verb}"
      for prefix in ("PyMem", "_PyMem") for verb in ("Malloc", "Calloc", "Realloc", "Free")),
    "malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign",
}  # fmt: skip
#: What only allocators call, where it has a name.
_BEHIND = {
    "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "unlink_chunk",
    "malloc_consolidate", "sysmalloc", "systrim", "alloc_perturb", "tcache_init", "new_arena",
    "arena_map_get", "arena_map_mark_used", "_PyObject_ArenaMmap", "_PyObject_ArenaMunmap",
    "pymalloc_alloc", "pymalloc_free", "allocate_from_new_pool", "insert_to_usedpool",
    "insert_to_freepool",
}  # fmt: skip
_ALLOCATORS = _OF_PYTHON | _OF_C | _BEHIND
_LOOKUPS = {"_PyType_Lookup", "_PyType_LookupRef", "_PyType_LookupStackRefAndVersion"}
#: Who makes or changes types, and so empties places of the cache on purpose.
_MAKERS = {"PyType_Modified", "PyType_Ready", "type_new"}
#: How the names of functions that copy begin: a block that grows may have to move, or not.
_COPIES = ("memcpy", "memmove", "memset", "__memcpy", "__memmove", "__memset", "__mempcpy")

_NAME = re.compile(r"(c?(?:fn|ob))=\((\d+)\)(?: (.*))?")
#: What compilers append to the name of a part of a function, and callgrind to a recursion's.
_SUFFIX = re.compile(r"[.'].*$")


@dataclass
class Dump:
    """One dump, by the numbers that it gives to functions.

    Attributes:
        names: of functions; an address where there is no symbol.
        objects: the file that holds each function's code.
        own: instructions in a function itself.
        calls: by caller and callee: how many, and their instructions with all that they called.
    """

    names: dict[str, str] = field(default_factory=dict)
    objects: dict[str, str] = field(default_factory=dict)
    own: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    calls: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0])
    )


def adjustment(file: Path) -> int:
    """What to add to a dump's total so that allocations and look-ups have their prices.

    Raises:
        OSError: it cannot be read.
    """
    return price(parse(file.read_text(encoding="utf-8", errors="replace")))


def parse(text: str) -> Dump:
    """Read functions, their own costs and their calls; everything else is skipped.

    Lines are ``ob=(1) file`` (later ``ob=(1)``), ``fn=`` likewise for a function in it, ``cob=``
    and ``cfn=`` for a callee, ``calls=COUNT POSITION``, and costs: a position and a number. The
    cost line after ``calls=`` is the callee's. ("Callgrind Format Specification" in valgrind's
    manual; this reads what its options here make it write.)
    """
    dump = Dump()
    files = {"": "???"}
    function = callee = held = ""
    calling = 0
    for line in text.splitlines():
        first = line[:1]
        if first in "0123456789+-*" and first:
            _, _, cost = line.partition(" ")
            if not cost.isdigit():
                continue
            if calling:
                about = dump.calls[function, callee]
                about[0] += calling
                about[1] += int(cost)
                calling = 0
            else:
                dump.own[function] += int(cost)
        elif line.startswith("calls="):
            calling = int(line[6:].partition(" ")[0])
        elif found := _NAME.match(line):
            key, number, name = found.groups()
            if name is not None:
                (dump.names if key.endswith("fn") else files)[number] = name
            if key == "fn":
                function, dump.objects[number] = number, files.get(held, "???")
            elif key == "cfn":
                callee = number
            elif key == "ob":
                held = number
    return dump


def price(dump: Dump) -> int:
    """The adjustment of a dump."""
    plain = {number: _SUFFIX.sub("", name) for number, name in dump.names.items()}
    dump = replace(dump, names=plain)
    return _allocations(dump) + _lookups(dump)


def _allocations(dump: Dump) -> int:
    """Fixed prices in the place of what allocators cost."""
    inside = _inside(dump)
    added = -sum(dump.own[number] for number in inside)
    for (caller, callee), (calls, cost) in dump.calls.items():
        name = dump.names.get(callee, "")
        if callee in inside and caller not in inside:
            added += calls * (PYTHON_PRICE if name in _OF_PYTHON else C_PRICE)
        elif caller in inside and callee not in inside and name.startswith(_COPIES):
            added -= cost
    return added


def _inside(dump: Dump) -> set[str]:
    """Allocators, and functions without a name that nobody else calls."""
    inside = {number for number, name in dump.names.items() if name in _ALLOCATORS}
    callers: dict[str, set[str]] = defaultdict(set)
    for caller, callee in dump.calls:
        if dump.names.get(callee, "").startswith("0x"):
            callers[callee].add(caller)
    grown = True
    while grown:
        more = {number for number, who in callers.items() if who <= inside} - inside
        inside |= more
        grown = bool(more)
    return inside


def _lookups(dump: Dump) -> int:
    """The price of a hit in the place of every look-up, unless the case makes types."""
    if any(name in _MAKERS for name in dump.names.values()):
        return 0
    lookups = {number for number, name in dump.names.items() if name in _LOOKUPS}
    added = -sum(dump.own[number] for number in lookups)
    for (caller, callee), (calls, cost) in dump.calls.items():
        if callee in lookups:
            added += calls * LOOKUP_PRICE
        elif caller in lookups:
            added -= cost
    return added
