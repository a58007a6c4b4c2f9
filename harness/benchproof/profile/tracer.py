"""In the worker: counts the bytecodes that a call of a case runs, by Python function.

Under callgrind all Python code is one C function, the interpreter's loop. A tracer that hears of
every bytecode tells the functions apart: slow, but exact, and the same in every run. A profile
function beside it hears of calls into C, which cost instructions but no bytecodes.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

#: Calls that are traced, at most, and before them calls that let caches fill.
MOST, WARM = 4, 2


def name_of(function: object) -> str:
    """What a C function is called: ``struct.pack``, ``bytes.join``."""
    name = getattr(function, "__qualname__", None) or type(function).__name__
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    if isinstance(module, str) and module not in {"builtins", name}:
        return module.lstrip("_") + "." + name
    if "." not in name and owner is not None and not hasattr(owner, "__name__"):
        return f"{type(owner).__name__}.{name}"
    return str(name)


def measure(call: Callable[[], object], calls: int) -> dict[str, list[dict[str, Any]]]:
    """Trace some calls of a case: hear of every bytecode, and of every call into C.

    Args:
        call: the case.
        calls: how often it is called; as often on both sides.

    Returns:
        ``bytecodes``: by Python function, its name, file, first line, and bytecodes a call.
        ``calls``: by C function and by the Python function that called it, the calls a call.
    """
    bytecodes: Counter[CodeType] = Counter()
    called: Counter[tuple[str, CodeType]] = Counter()

    def on_call(frame: FrameType, *_: object) -> Any:  # noqa: ANN401  (a tracer gives a tracer)
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return on_bytecode

    def on_bytecode(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401  (as above)
        if event == "opcode":
            bytecodes[frame.f_code] += 1
        return on_bytecode

    def on_profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "c_call":
            called[name_of(argument), frame.f_code] += 1

    for _ in range(WARM):
        call()
    before = sys.gettrace(), sys.getprofile()
    sys.setprofile(on_profile)
    sys.settrace(on_call)
    try:
        # From Python 3.12 on, a function that is traced for the first time is not traced whole.
        call()
        bytecodes.clear()
        called.clear()
        for _ in range(calls):
            call()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    here = measure.__code__
    return {
        "bytecodes": [
            {"function": code.co_qualname, "file": code.co_filename, "line": code.co_firstlineno,
             "cost": number / calls}
            for code, number in bytecodes.items()
        ],
        "calls": [
            {"function": name, "by": code.co_qualname, "file": code.co_filename,
             "line": code.co_firstlineno, "cost": number / calls}
            for (name, code), number in called.items()
            if code is not here
        ],
    }  # fmt: skip


def calls_for(many: int) -> int:
    """How often a case is called under the tracer, by what the instruction meter does."""
    return max(1, min(MOST, many))


def lines(call: Callable[[], object], folder: Path) -> dict[str, list[int]]:
    """The lines that a call runs, also on threads that it starts.

    Args:
        call: the case.
        folder: only of files below it.

    Returns:
        By file, relative to the folder, the numbers of its lines.
    """
    inside, found = f"{folder}{os.sep}", defaultdict[str, set[int]](set)

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401  (as above)
        if not frame.f_code.co_filename.startswith(inside):
            return None
        if event == "line":
            found[frame.f_code.co_filename].add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        # From Python 3.12 on, a function that is traced for the first time is not traced whole.
        call()
        call()
    finally:
        sys.settrace(before)
        threading.settrace(None)
    return {file.removeprefix(inside): sorted(numbers) for file, numbers in found.items()}
