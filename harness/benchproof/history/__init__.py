"""The history of a project's benchmarks: measured commit by commit, kept in asv's own files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from benchproof.checkout import Checkout

    from .model import History


def load(
    results: Path, repo: Checkout | Path, tip: str = "HEAD", cache: Path | None = None
) -> History:
    """Everything that a folder of results tells of a repository: see `asv_files.load`.

    Raises:
        BenchproofError: git cannot be asked.
    """
    from . import asv_files  # noqa: PLC0415  (numpy and git are for those who read histories)

    return asv_files.load(results, repo, tip, cache)
