"""What the options of `benchproof history` mean."""

from __future__ import annotations

from benchproof.errors import SelectionError
from benchproof.near import meant

from .names import EXACT


def meters(text: str) -> tuple[str, ...]:
    """The exact meters of a list.

    Raises:
        SelectionError: it names another one, or none.
    """
    wanted = [name.strip() for name in text.split(",") if name.strip()]
    if wanted in (["exact"], ["all"]):
        return EXACT
    unknown = [name for name in wanted if name not in EXACT]
    if unknown or not wanted:
        hint = "; wall time has an option of its own, --wall" if "wall" in unknown else ""
        raise SelectionError(
            f"--meters {text!r}: choose from {', '.join(EXACT)}, or exact{hint}"
            + (meant(unknown[0], (*EXACT, "exact")) if unknown else "")
        )
    return tuple(name for name in EXACT if name in wanted)
