"""The page of settings names each key of `[tool.benchproof]` with the default that is in force."""

import re
from pathlib import Path

from benchproof import settings, toml
from benchproof.errors import SettingsError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"
TEXT = PAGE.read_text(encoding="utf-8")
#: Keys whose default is found or said in words.
IN_WORDS = {"package", "sources", "suites", "decide", "proof", "test"}


def table():
    """The cells of each key of the page's table."""
    return {
        line.split("|")[1].strip(" `"): [cell.strip() for cell in line.split("|")[2:-1]]
        for line in TEXT.splitlines()
        if line.startswith("| `")
    }


def test_the_page_has_every_key_and_no_other():
    assert table().keys() == settings.CHECKS.keys()


def test_defaults_are_those_in_force():
    defaults = settings.DEFAULTS.describe()
    for key, (_, default, _) in table().items():
        if key in IN_WORDS:
            continue
        value = toml.File(f"value = {default.strip('`')}", "x", SettingsError).data["value"]
        assert value == defaults[key], key


def test_its_examples_are_read():
    for block in re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL):
        found = settings.parse(block)
        assert found != settings.DEFAULTS
