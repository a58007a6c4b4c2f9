"""What `scripts/code-lines` counts, and what it does not."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "code-lines"
MODULE = '''"""A docstring

of three lines."""
# a comment
import os  # with a comment behind it

TEXT = """no docstring

counts with all of its lines"""


class A:
    """One line."""

    def f(
        self,
    ):
        """No code."""
        return (
            1
        )
'''


def run(*words):
    return subprocess.run(
        [sys.executable, SCRIPT, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_blank_lines_comments_and_docstrings_are_no_code(tmp_path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.py").write_text(MODULE)
    (tmp_path / "b.py").write_text("x = 1\n")
    (tmp_path / "c.py").write_text("x = 1\n\n\ny = 2\n")
    said = run(tmp_path)
    assert said.stdout.splitlines() == [
        "      11  deep",
        "       3  .",
        f"      14  lines of code in {tmp_path.name}",
    ]
    assert run("--totals", tmp_path).stdout.splitlines() == said.stdout.splitlines()[-1:]


def test_it_counts_what_is_shipped_and_says_what_is_no_folder(tmp_path):
    told = run("--totals").stdout.splitlines()
    assert [line.split()[-1] for line in told] == ["benchproof", "driver"]
    assert run(tmp_path / "none").returncode == 2
