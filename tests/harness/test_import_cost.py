"""What answering costs: `--help` and `compare` load nothing that they do not use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Each takes longer to import than the answer may take; what measures or draws imports it later.
HEAVY = {
    "asv",
    "asyncio",
    "filelock",
    "jinja2",
    "matplotlib",
    "memray",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
}
PROGRAM = """
import sys
from benchproof.cli import main
try:
    main()
except SystemExit:
    pass
print("loaded", *{name.partition(".")[0] for name in sys.modules})
"""


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--version"], ["compare", "--help"], ["compare"], ["compare", "nothing", "HEAD"]],
)
def test_a_command_that_measures_nothing_loads_nothing_heavy(words):
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=Path(__file__).parent, env=os.environ | {"COLUMNS": "100"}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    loaded = answer.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded"
    assert "benchproof" in loaded
    assert not HEAVY & set(loaded)
