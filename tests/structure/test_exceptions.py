"""Exceptions from the rules of the code: few, and none that a user of the driver would meet."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_lines_that_are_excused_from_a_rule_are_few():
    excused = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "driver").rglob("*.py")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if "# noqa" in line
    ]
    assert len(excused) < 100
