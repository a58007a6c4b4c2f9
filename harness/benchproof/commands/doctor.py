"""Say what can and cannot be measured here, of this project, and what to do about it.

Examples:
  benchproof doctor            a table
  benchproof doctor --json -   for machines

Exit status: 0 this project can be measured here, 2 it cannot.
"""

from . import options


def command(
    json: options.Json = None,
) -> int:
    """Diagnose this machine."""
    from benchproof.doctor import report  # noqa: PLC0415  (--help should be fast)

    findings = report.diagnose()
    output = options.Output(json)
    parts = report.parts_of()
    output.keep(report.as_json(findings, parts))
    report.show(findings, output.console(), parts)
    return report.exit_status(findings)
