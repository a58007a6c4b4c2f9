"""The words of the project: no name of before the rename, and no metaphor where a plain word is."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OLD = "hot" + "path"
#: Where the old name stays: what was measured under it, and what reads that.
MAY_SAY_OLD = (
    "CHANGELOG.md",
    "asv.conf.json",  # uninstalls the wheel of older commits
    "harness/benchproof/renamed.py",
    "reports/",
    "tests/harness/test_renamed.py",
)
#: Architecture, layers, compiled and pure Python, noise floor: the words of the field.
PLAIN = re.compile(r"\b(?<!noise )([Hh]ouses?|[Ff]loors?|[Tt]wins?)\b")
CODE = re.compile(r"^ *(```+).*?^ *\1 *$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
WORDED = ("*.md", "driver", "asv_benchmarks/*.py", "Makefile", "*.toml", "setup.py", "*.json")


def tracked(*patterns):
    """Paths of the tracked text files, and their text."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_symlink() or not path.is_file():
            continue
        try:
            yield name, path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_the_old_name_is_only_where_old_files_are_read():
    found = {name for name, text in tracked() if OLD in text.lower() or OLD in name.lower()}
    assert not {name for name in found if not name.startswith(MAY_SAY_OLD)}


def test_docs_and_docstrings_use_plain_words():
    found = [
        f"{name}: {match[0]}"
        for name, text in tracked(*WORDED)
        if not name.startswith(("reports/", "asv_benchmarks/inputs/"))
        for match in PLAIN.finditer(CODE.sub("", text) if name.endswith(".md") else text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the floor of a layer", ["floor"]),
        ("`floor` is code, the house is not", ["house"]),
        ("the noise floor, a TWINS, a `__twin__`", []),
        ("```\ntwins\n```\nTwins", ["Twins"]),
    ],
)
def test_what_counts_as_a_word(text, words):
    assert [match[0] for match in PLAIN.finditer(CODE.sub("", text))] == words
