"""`benchproof doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

HELP = """Say what this machine can and cannot measure, and what to do about it.

\b
Examples:
  benchproof doctor            a table
  benchproof doctor --json     for machines
"""


def command(
    json: Annotated[bool, typer.Option("--json", help="JSON instead of the table.")] = False,
) -> int:
    """Diagnose this machine."""
    from benchproof.doctor import doctor_command as diagnose  # noqa: PLC0415

    return diagnose(json_output=json)
