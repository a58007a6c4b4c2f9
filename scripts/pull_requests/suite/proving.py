"""Which function of `cassandra` a case ran, and what it answered.

The functions that a case names are replaced by ones that count, wherever they are looked up by
name, compiled or not, for one call. A case that runs none of them is refused: its figure is then
"not exercised".
"""

import hashlib
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from importlib import import_module


def proved(reaches, modules, answer=repr, version="1"):
    """Give a case its proof.

    Args:
        reaches: functions that the change is about, as ``"module:Class.name"`` below `cassandra`;
            a side may lack some of them, but one that it has must run.
        modules: on the path, below `cassandra`; absent ones are left out.
        answer: what the two sides must have in common, from what the case returns.
        version: asv's; a new one begins a new series.
    """

    def decorate(case):
        def prove():
            case()  # what is made once and kept is not the path that a loop takes
            with _counting(reaches) as (known, calls):
                result = case()
            if not known or (reaches and not sum(calls.values())):
                raise AssertionError(f"{case.__name__} did not reach {', '.join(reaches)}")
            files = {name: sys.modules.get(f"cassandra.{name}") for name in modules}
            return {
                "modules": {name: found.__file__ for name, found in files.items() if found},
                "probe": {"reached": dict(sorted(calls.items()))},
                "digest": hashlib.sha256(str(answer(result)).encode()).hexdigest(),
            }

        case.prove, case.version = prove, version
        return case

    return decorate


@contextmanager
def _counting(names):
    """Count the calls of functions; those that there are, and how often each ran."""
    calls, undo = Counter(), []
    known = [name for name in names if _replace(name, calls, undo)]
    try:
        yield known or not names, calls
    finally:
        for owner, name, raw in reversed(undo):
            setattr(owner, name, raw)


def _replace(name, calls, undo):
    """Let a function count its calls; whether there is such a one."""
    module, _, path = name.partition(":")
    *outer, last = path.split(".")
    with suppress(ImportError, AttributeError, KeyError):
        owner = import_module(f"cassandra.{module}")
        for each in outer:
            owner = getattr(owner, each)
        raw = vars(owner)[last]
        setattr(owner, last, _counted(raw, name, calls))
        undo.append((owner, last, raw))
        return True
    return False


def _counted(raw, name, calls):
    """A function that counts, of the same kind: plain, static, of the class, or a property."""
    if isinstance(raw, property):
        return property(_counted(raw.fget, name, calls))
    kind = next((each for each in (classmethod, staticmethod) if isinstance(raw, each)), None)
    inner = raw.__func__ if kind else raw

    def stand_in(*arguments, **named):
        calls[name] += 1
        return inner(*arguments, **named)

    return kind(stand_in) if kind else stand_in
