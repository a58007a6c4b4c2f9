"""Cases of a suite as plain functions: a table goes in, one ``time_<case>`` a case comes out.

A benchmark is a module-level function without asv parameters, because below a microsecond the
closure that parameters cost is in every sample. ``setup`` puts the inputs into the function's
defaults, so that its body reads local variables and looks nothing up. What asv and the harness
find on each function:

``setup()``            make the inputs, importing the driver only then; NotImplementedError says
                       that this commit has not got what is measured, which asv shows as n/a
``prove()``            run the case once and tell what ran; AssertionError if the path was missed
``modules``            driver modules on the path, relative to the package
``version``            set by hand: asv throws a history away when it changes
``answers_may_differ`` whether two sides may answer differently and still be compared
``part_of``            the function whose call contains what this one does, for the table of shares
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from . import recordings, witness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Prepared:
    """The inputs of a case, made for one driver in one process.

    Attributes:
        inputs: positional arguments of the timed function.
        answer: from what the function returned to values that ``recordings.plain`` knows.
        check: looks at what the function returned: facts for the proof, AssertionError if the
            answer does not come from the path that the case is about.
    """

    inputs: tuple[Any, ...]
    answer: Callable[[Any], Any] = lambda result: result
    check: Callable[[Any], dict[str, Any]] = lambda _: {}


@dataclass(frozen=True)
class Case:
    """One row of a suite's table.

    Attributes:
        name: the benchmark is called ``time_<name>``.
        body: the timed function; its parameters have defaults, which ``setup`` fills.
        prepare: makes the inputs from the driver that is installed.
        modules: driver modules on the path, such as ``"wire.codec"``.
        reaches: what must have run, as ``"wire.codec:ProtocolHandler.encode_message"``.
        version: to be changed by hand when the case measures something else than before.
        answers_may_differ: see the module.
        part_of: name of the case that this one is a part of; empty for a whole.
    """

    name: str
    body: FunctionType
    prepare: Callable[[], Prepared]
    modules: tuple[str, ...]
    reaches: tuple[str, ...]
    version: str = "1"
    answers_may_differ: bool = False
    part_of: str = ""


def install(namespace: dict[str, Any], cases: Iterable[Case]) -> None:
    """Put a ``time_*`` function a case into a suite's namespace, where asv discovers it.

    Raises:
        ValueError: two cases have the same name.
    """
    for case in cases:
        name = f"time_{case.name}"
        if name in namespace:
            raise ValueError(f"two cases are called {case.name}")
        namespace[name] = benchmark(case, name)


def benchmark(case: Case, name: str) -> FunctionType:
    """The plain function of a case: its own copy of the body, with the attributes above."""
    # Code of its own: what the interpreter specialises for one case, the next would unlearn.
    code = case.body.__code__.replace(co_name=name, co_qualname=name)
    function = FunctionType(code, case.body.__globals__, name, case.body.__defaults__)
    prepared: list[Prepared] = []

    def setup() -> None:
        # asv calls setup before each sample: once is enough, and the interpreter keeps what it
        # has specialised for this function.
        if prepared:
            return
        try:
            made = case.prepare()
        except ImportError as missing:
            raise NotImplementedError(f"{name}: {missing}") from missing
        prepared.append(made)
        function.__defaults__ = made.inputs

    def prove() -> dict[str, Any]:
        setup()
        result, testimony = witness.run(function, case.modules, case.reaches)
        facts = prepared[0].check(result)
        return {
            **testimony,
            "probe": {**testimony["probe"], **facts},
            "digest": recordings.digest(prepared[0].answer(result)),
        }

    function.setup = setup
    function.prove = prove
    function.modules = case.modules
    function.version = case.version
    function.answers_may_differ = case.answers_may_differ
    function.part_of = f"time_{case.part_of}" if case.part_of else ""
    function.pretty_name = case.name.replace("_", " ")
    return function


def expect(condition: object, complaint: str) -> None:
    """Raise AssertionError with one clear line unless the condition holds."""
    if not condition:
        raise AssertionError(complaint)
