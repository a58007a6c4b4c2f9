"""Judge kept samples again: nothing is built, nothing is measured.

FILE is what `compare` or `gate` wrote with --records. Settings, accepted regressions and the day
are those of the run, so that the verdict is the same to the digit.

Examples:
  benchproof compare main HEAD --records main.jsonl.gz
  benchproof judge main.jsonl.gz --all
  benchproof judge main.jsonl.gz --json -
  benchproof judge main.jsonl.gz --picture main.svg

Exit status: 0 no regression, 1 regression, 2 could not measure, or no such samples, 3
cannot decide.
"""

from pathlib import Path
from typing import Annotated

from .options import All, Json, Output, Picture, argument


def command(
    file: Annotated[Path, argument("Of --records.", "FILE")],
    json: Json = None,
    everything: All = False,
    picture: Picture = None,
) -> int:
    """Judge samples."""
    from benchproof import records  # noqa: PLC0415  (scipy is slow to import)

    samples = records.read(file)
    return Output(json).judged(samples, everything=everything, picture=picture)
