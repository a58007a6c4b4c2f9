"""A comparison as a small Markdown table: geometric means a suite, for the README."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import raw, view

if TYPE_CHECKING:
    from collections.abc import Mapping

_COLUMNS = ("time", "instructions", "allocations")


def markdown_table(comparison: Mapping[str, Any]) -> str:
    """The geometric means of the ratios right / left, a line for each suite and one for all.

    Args:
        comparison: A comparison as JSON; a skipped one gives a line with the reason.

    Returns:
        Markdown that ends in a newline.
    """
    if comparison.get("kind") == "skipped":
        return f"*Not compared: {comparison.get('why', 'no reason was recorded')}*\n"
    cases = list(comparison.get("cases") or [])
    groups = raw.group_by_suite(cases)
    right, left = (raw.side_name(comparison, side) for side in ("right", "left"))
    lines = [
        f"`{right}` divided by `{left}`, geometric mean; less is better",
        "",
        f"| suite | cases | {' | '.join(_COLUMNS)} |",
        f"|:--|--:|{'--:|' * len(_COLUMNS)}",
        *(_line(f"`{name}`", group) for name, group in groups.items()),
    ]
    if len(groups) > 1:
        lines.append(_line("**all**", cases))
    return "\n".join(lines) + "\n"


def _line(name: str, cases: list[dict[str, Any]]) -> str:
    measured = sum(case.get("status") == "measured" for case in cases)
    means = {mean.label: mean.text for mean in view.means(cases)}
    return f"| {name} | {measured} | {' | '.join(means[column] for column in _COLUMNS)} |"
