"""What a person asks of a search, and what cannot be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchproof import meters
from benchproof.errors import SelectionError, TargetError
from benchproof.near import meant

if TYPE_CHECKING:
    from benchproof.targets import Implementation


@dataclass(frozen=True)
class Asked:
    """What a person asks.

    Attributes:
        bench: a benchmark's name, or an expression that only one matches.
        span: ``GOOD..BAD``.
        impl: of the builds; None: compiled where a C compiler works.
        meter: an exact one.
        limit: the smallest change worth searching, as a part of 1; None: the project's.
    """

    bench: str
    span: str
    impl: Implementation | None = None
    meter: str = "instructions"
    limit: float | None = None


def check(asked: Asked) -> None:
    """Refuse a meter that cannot tell commits apart by one build each.

    Raises:
        SelectionError: it is no exact meter, or this machine does not have it.
    """
    exact = [name for name, meter in meters.METERS.items() if meter.exact]
    if asked.meter not in exact:
        raise SelectionError(
            f"--meter {asked.meter!r}: a search needs a meter that one process decides: "
            f"{', '.join(exact)}{meant(asked.meter, exact)}"
        )
    if meters.why_not(asked.meter):
        raise SelectionError(f"{asked.meter} cannot be measured: {meters.why_not(asked.meter)}")


def implementation(text: str) -> Implementation | None:
    """Read an option that may name an implementation.

    Raises:
        SelectionError: it names none.
    """
    known: dict[str, Implementation | None] = {"": None, "cython": "cython", "python": "python"}
    if text not in known:
        both = ": a search counts one of them" if text == "both" else meant(text, known)
        raise SelectionError(f"--impl {text!r}: choose cython or python{both}")
    return known[text]


def ends(span: str) -> tuple[str, str]:
    """Read GOOD..BAD; BAD may be left out, and is HEAD then.

    Raises:
        TargetError: it is no range.
    """
    good, dots, bad = span.partition("..")
    if not dots or not good or bad.startswith("."):
        raise TargetError(f"{span!r} is no range: write GOOD..BAD")
    return good, bad or "HEAD"
