"""Writes summary.json, calibration.md and the picture, each as one step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchproof import error_rates, files
from calibration import picture, summary, words

if TYPE_CHECKING:
    from benchproof.settings import Settings

WORDS, PICTURE = "calibration.md", "calibration.svg"


def write(reports: Path, policy: str, settings: Settings) -> dict[str, Any]:
    """Report everything that is kept.

    Raises:
        BenchproofError: it cannot be written.
    """
    folder = Path(reports, error_rates.FOLDER)
    found = summary.summarise(summary.reader(folder), policy, settings)
    files.write_json(found, folder / error_rates.SUMMARY)
    files.write(words.markdown(found, PICTURE), folder / WORDS)
    drawn = picture.draw(found)
    if drawn:
        files.write(drawn, folder / PICTURE)
    return found
