"""How often the gate is wrong, as a calibration of this project measured it and kept it."""

from pathlib import Path
from typing import Any

from . import files

#: Where a calibration lies below the reports, and the file that sums it up.
FOLDER, SUMMARY = "calibration", "summary.json"
SCHEMA = 1


def load(reports: Path) -> dict[str, Any] | None:
    """What is known of the gate's errors, for the gate's own output; None before a calibration.

    Args:
        reports: the reports folder of a checkout.

    Raises:
        NewerError: a newer benchproof kept it.

    Returns:
        ``false_alarm`` (rate, low, high, n, and where it comes from), ``detection`` by meter and
        size of the slow-down (rate, low, high, n), and ``conditions``.
    """
    file = Path(reports, FOLDER, SUMMARY)
    summary = files.contents(file)
    files.refuse_newer(summary, SCHEMA, file)
    known = summary.get("rates") if summary.get("schema") == SCHEMA else None
    return known if isinstance(known, dict) else None
