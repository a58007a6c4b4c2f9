"""Merge shards and repeated runs of one comparison, and judge them as one.

FILEs are what `compare` or `gate` wrote with --records: of other benchmarks of the same two sides,
or of the same ones again, here or on another machine with the same processor model. What comes
twice counts once. Streams of other sides, settings, Pythons, processors or versions of benchproof
are refused.

Examples:
  benchproof merge shard1.jsonl.gz shard2.jsonl.gz
  benchproof merge *.jsonl.gz --records all.jsonl.gz --json verdict.json

Exit status: 0 no regression, 1 regression, 2 could not measure, or they cannot be merged, 3
cannot decide.
"""

from pathlib import Path
from typing import Annotated

from .options import All, Json, Output, Records, argument


def command(
    streams: Annotated[list[Path], argument("Of --records.", "FILE...")],
    records: Records = None,
    json: Json = None,
    everything: All = False,
) -> int:
    """Merge and judge."""
    from benchproof import merging  # noqa: PLC0415  (scipy is slow to import)
    from benchproof import records as kept  # noqa: PLC0415

    samples = merging.merge({str(file): kept.read(file) for file in streams})
    return Output(json).judged(samples, everything=everything, records=records)
