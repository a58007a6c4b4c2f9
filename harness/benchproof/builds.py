"""The builds of one side: one, or several whose compiled code is laid out differently.

Where the compiler and the linker put a function moves what lies around it, and with it counts and
times, though every build executes the same instructions. A single build a side takes one such
accident for a property of the commit. The layouts differ only in what lies between functions:
padding in front of each (`-fpatchable-function-entry=N,N`: all of the no-operations stand before
the entry, where nothing runs them) and the alignment of their starts.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from . import targets
from .build import Builder, Built
from .checkout import Place
from .errors import TargetError
from .plan import SIDES, SideName
from .processes import Crew
from .progress import Teller

#: Bytes of padding, and of alignment, by layout; further ones go on in the same manner.
_PADDING = (0, 16, 48, 112, 32, 80, 144, 64)
_ALIGNMENT = (0, 32, 16, 64, 16, 32, 64, 16)


def flags(layout: int) -> str:
    """The compiler flags of a layout; none of the first, so that it is everybody's build."""
    if layout == 0:
        return ""
    padding = _PADDING[layout % len(_PADDING)] + 160 * (layout // len(_PADDING))
    alignment = _ALIGNMENT[layout % len(_ALIGNMENT)] or 32
    return f"-fpatchable-function-entry={padding},{padding} -falign-functions={alignment}"


def spec(text: str, impl: str) -> targets.Spec:
    """A side in one of several variants.

    Raises:
        TargetError: it is empty, or names a variant already.
    """
    parsed = targets.parse(text)
    if parsed.impl is not None:
        raise TargetError(f"{text!r} names a variant: all are measured, or those of --impl")
    return replace(parsed, impl=impl)


def _of(side: targets.Target, place: Place, layouts: Sequence[int]) -> Sequence[int]:
    """The layouts in which a side is built: pure Python in one."""
    chosen = [each for each in place.checkout.variants if side.spec.impl in {None, each.name}]
    return layouts if any(each.kind != "pure" for each in chosen) else layouts[:1]


def one(text: str, place: Place, crew: Crew, tell: Teller | None = None) -> Built:
    """A single target, as a person writes one, with the packages that it needs.

    Raises:
        TargetError: it names nothing, or there is no package in it.
        BuildError: it does not build.
        NoSpaceError: the disk is full.
    """
    target = targets.resolve(targets.parse(text), place.checkout)
    tell = tell or Teller()
    return Builder(place.checkout, place.cache, crew, place.toolchain, tell).build(target)


def build(
    sides: Mapping[SideName, targets.Target], place: Place, crew: Crew, layouts: Sequence[int],
    tell: Teller,
) -> dict[SideName, list[Built]]:  # fmt: skip
    """Build both sides before either runs, each in every layout, side by side.

    Pure Python has no compiled code to lay out: it is built once.

    Raises:
        BuildError: a side does not build.
        NoSpaceError: the disk is full.
    """
    builder = Builder(place.checkout, place.cache, crew, place.toolchain, tell)
    tools = builder.tools(sides)
    # Two builds of the same content wait for one another at the cache's lock.
    with ThreadPoolExecutor(max_workers=2) as pool:
        try:
            pending = {
                side: [
                    pool.submit(builder.make, sides[side], flags(layout), tools[side])
                    for layout in _of(sides[side], place, layouts)
                ]
                for side in SIDES
            }
            found = {side: [each.result() for each in pending[side]] for side in SIDES}
        except KeyboardInterrupt:
            # The threads wait for children, which end now. If a side does not build, another
            # implementation may still be measured by the same crew.
            crew.stop()
            raise
    return builder.share(found)
