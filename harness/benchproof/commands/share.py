"""Tell which share of a whole benchmark each of its parts has.

Reads results, and measures nothing. Parts are the benchmarks that say so (`part_of`): the
steps of a request, for example. What is in no part is a line of its own.

Examples:
  benchproof share                                  of the last `benchproof run`
  benchproof compare HEAD@impl:pure HEAD@impl:fast --bench request --json q.json
  benchproof share q.json --side right

Exit status: 0, or 2 if there are no such results.
"""

from pathlib import Path
from typing import Annotated, Literal

from benchproof import variants
from benchproof.errors import SelectionError

from .options import Impl, Json, Output, argument, option


def command(
    file: Annotated[
        Path | None,
        argument(
            "Of `benchproof compare --json`; default: those of the last `benchproof run`.", "FILE"
        ),
    ] = None,
    side: Annotated[
        Literal["left", "right", "both"], option("left, right, or both.", "SIDE")
    ] = "both",
    impl: Impl = "",
    json: Json = None,
) -> int:
    """Tell the shares."""
    from benchproof import checkout, share  # noqa: PLC0415  (--help should be fast)
    from benchproof.plan import SIDES  # noqa: PLC0415

    if json and share.is_results(json):
        # `share --json FILE` read FILE once.
        raise SelectionError(
            f"{json} holds results, and --json would write over them: "
            f"benchproof share {json} --json -"
        )
    if file is None:
        file = share.of_last_run(checkout.Checkout.around(Path.cwd()).root / "reports")
    only, sides = "" if impl in variants.ALL else impl, SIDES if side == "both" else (side,)
    found = [
        each
        for document in share.read(file)
        for each in share.shares(document, share.sides_of(document, sides, only))
    ]
    if not found:
        raise SelectionError(f"no side of {file.name} that was chosen is {only}")
    output = Output(json)
    output.keep({"schema": 1, "kind": "shares", "shares": found})
    share.show(found, output.console())
    return 0
