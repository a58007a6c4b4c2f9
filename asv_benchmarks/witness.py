"""Which code answered: the proof that a case ran on the path that it is about.

Python functions of the driver are seen by a profile function. Compiled ones are not; those that a
compiled module gives to the driver's modules are counted instead, by standing in front of them
wherever the driver refers to them. A benchmark whose path was missed is an error, not a number.
"""

# ruff: noqa: ANN401  (objects of whichever driver is installed)

from __future__ import annotations

import sys
from collections import Counter
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from types import GetSetDescriptorType, MethodType
from typing import TYPE_CHECKING, Any

from .moved import PACKAGE, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, FunctionType, ModuleType


def run(
    function: FunctionType, modules: tuple[str, ...], reaches: tuple[str, ...]
) -> tuple[Any, dict[str, Any]]:
    """Call a benchmark and tell what ran in its second call.

    Args:
        function: takes no arguments that have no defaults.
        modules: modules on the path, relative to the driver.
        reaches: names that must have run, as ``"module:qualified.name"``.

    Returns:
        What the function returned, and ``impl``, ``modules`` (name -> file) and ``probe``:
        ``reached`` (name -> calls) and ``python_calls`` (module -> Python calls in it).

    Raises:
        AssertionError: a name was not reached, a module has another implementation than the
            process, or a pure function ran where a compiled one has its place.
    """
    from driver.implementation import IMPL, TWINS, origin

    modules, reaches = tuple(map(where, modules)), tuple(map(where, reaches))
    files = {module: origin(module) for module in modules}
    for module, file in files.items():
        compiled = file.endswith(tuple(EXTENSION_SUFFIXES))
        if compiled != (IMPL == "cython" and module in TWINS):
            raise AssertionError(f"the process is {IMPL}, but {module} is {file}")
    compiled_names = {
        name: target for name in reaches if (target := _of_compiled(name)) is not None
    }
    function()  # what is made once and kept is not the path that a loop takes
    with _counting(function, compiled_names) as calls_of_compiled, _profiling() as python_calls:
        result = function()
    reached = {
        name: calls_of_compiled[name] if name in compiled_names else python_calls[name]
        for name in reaches
    }
    missed = [name for name, calls in reached.items() if not calls]
    if missed:
        raise AssertionError(f"{function.__name__} did not reach {', '.join(missed)}")
    displaced = [name for name in python_calls if _of_compiled(name) is not None]
    if displaced:
        raise AssertionError(f"pure functions ran in a compiled process: {', '.join(displaced)}")
    in_modules: Counter[str] = Counter()
    for name, calls in python_calls.items():
        in_modules[name.partition(":")[0]] += calls
    probe = {"reached": reached, "python_calls": dict(sorted(in_modules.items()))}
    return result, {"impl": IMPL, "modules": files, "probe": probe}


def _of_compiled(name: str) -> Any:
    """The compiled object behind ``"module:name"``; None if that name is pure Python's here."""
    module_name, _, attribute = name.partition(":")
    module = import_module(f"{PACKAGE}.{module_name}")
    compiled: ModuleType | None = getattr(module, "__twin__", None)
    method = getattr(compiled, "METHODS", {}).get(attribute)
    if method is not None:
        return method
    first, _, member = attribute.partition(".")
    if compiled is None or first not in compiled.__all__:
        return None
    owner = getattr(compiled, first)
    # A call of a class is its __init__. A method that Cython binds is one object for all instances:
    # a case that is given it, bound, gets a stand-in. Of other methods calls of the class count.
    if member == "__init__" or not callable(getattr(owner, member or " ", None)):
        return owner
    return getattr(owner, member)


@contextmanager
def _profiling() -> Iterator[Counter[str]]:
    """Count Python calls in the driver, by ``"module:qualified.name"``."""
    calls: Counter[str] = Counter()
    prefix = f"{PACKAGE}."

    def profile(frame: FrameType, event: str, _: object) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(prefix):
            calls[f"{module.removeprefix(prefix)}:{frame.f_code.co_qualname}"] += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@contextmanager
def _counting(function: FunctionType, targets: dict[str, Any]) -> Iterator[Counter[str]]:
    """Count calls of compiled objects, by name, from the driver's modules and from the case."""
    calls: Counter[str] = Counter()
    undo: list[Callable[[], None]] = []
    inputs = function.__defaults__
    try:
        for name, target in targets.items():
            stand_in = _stand_in(name, target, calls)
            if function.__defaults__ is not None:
                function.__defaults__ = tuple(
                    _in_place_of(target, stand_in, value) for value in function.__defaults__
                )
            for holder, attribute, wrap in list(_references(target)):
                kept = vars(holder)[attribute]
                setattr(holder, attribute, wrap(stand_in))
                undo.append(lambda h=holder, a=attribute, k=kept: setattr(h, a, k))
        yield calls
    finally:
        for restore in reversed(undo):
            restore()
        function.__defaults__ = inputs


def _stand_in(name: str, target: Any, calls: Counter[str]) -> Callable[..., Any]:
    """Calls a target and counts."""
    call = target.__get__ if isinstance(target, GetSetDescriptorType) else target

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        calls[name] += 1
        return call(*args, **kwargs)

    return stand_in


def _in_place_of(target: Any, stand_in: Callable[..., Any], value: Any) -> Any:
    """What a case gets for one of its inputs: the stand-in for the target, bound as that is."""
    if value is target:
        return stand_in
    if isinstance(value, MethodType) and value.__func__ is target:
        return MethodType(stand_in, value.__self__)
    return value


def _references(target: Any) -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Where Python modules and classes of the driver hold an object, and how to wrap another."""
    holders: list[Any] = []
    for name, module in list(sys.modules.items()):
        if name == PACKAGE or name.startswith(f"{PACKAGE}."):
            if name.startswith(f"{PACKAGE}._cython."):
                continue  # compiled code refers to its own names in C
            holders.append(module)
            holders += [
                value
                for value in vars(module).values()
                if isinstance(value, type) and value.__module__ == name
            ]
    for holder in holders:
        for attribute, value in list(vars(holder).items()):
            if value is target and isinstance(target, GetSetDescriptorType):
                yield holder, attribute, partial(_property, target)
            elif value is target:
                # In a class, a stand-in that is a function becomes a method, which not all are.
                is_method = hasattr(type(target), "__get__")
                as_it_is = is_method or not isinstance(holder, type)
                yield holder, attribute, _as_it_is if as_it_is else staticmethod
            elif isinstance(value, property) and value.fget is target:
                yield holder, attribute, value.getter
            elif isinstance(value, staticmethod) and value.__func__ is target:
                yield holder, attribute, staticmethod
            elif isinstance(value, classmethod) and value.__func__ is target:
                yield holder, attribute, classmethod


def _property(attribute: GetSetDescriptorType, get: Callable[[Any], Any]) -> property:
    """An attribute of C's with another function that gets it."""
    return property(get, attribute.__set__, attribute.__delete__)


def _as_it_is(value: Any) -> Any:
    return value
