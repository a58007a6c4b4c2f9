"""`[tool.benchproof]`: what it may say, and the line of what it may not."""

import re
from pathlib import Path

import pytest

from benchproof import noise, settings, verdict
from benchproof.errors import SettingsError

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("decode_rows.time_one_row", "decode_rows.time_page", "bind.time_x")
WHOLE = """\
[project]
name = "a"

[tool.benchproof]
alpha = 0.02
suites = "speed"
accepted = "kept.toml"
builds = 3
budget = 60

[tool.benchproof.limits]
instructions = 0.005

[tool.benchproof.benchmarks."decode_rows.*"]
instructions = 0.01
wall = 0.02

[tool.benchproof.benchmarks."decode_rows.time_page"]
wall = 0.03
"""


def test_everything_has_a_default():
    for text in ("", "[tool.other]\nalpha = 7\n", "[tool.benchproof]\n"):
        assert settings.parse(text) == settings.Settings()
    assert settings.Settings().alpha == verdict.ALPHA


def test_a_project_without_a_pyproject_has_the_defaults(tmp_path):
    assert settings.load(tmp_path) == settings.Settings()


def test_a_pyproject_that_is_no_text_is_told_in_a_line(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"# \xff\n")
    with pytest.raises(SettingsError, match=r"^pyproject.toml: it is not UTF-8$"):
        settings.load(tmp_path)


def test_what_the_table_says_is_in_force():
    found = settings.parse(WHOLE)
    about = found.describe()
    assert (about["alpha"], about["suites"], about["accepted"]) == (0.02, "speed", "kept.toml")
    assert (about["builds"], about["budget"]) == (3, 60)
    assert found.limit("instructions", "bind.time_x").ratio == 0.005
    assert found.limit("wall", "bind.time_x") == noise.LIMITS["wall"]


def test_of_patterns_that_match_the_last_one_counts_for_each_meter():
    found = settings.parse(WHOLE)
    assert found.limit("wall", "decode_rows.time_one_row").ratio == 0.02
    assert found.limit("wall", "decode_rows.time_page").ratio == 0.03
    assert found.limit("instructions", "decode_rows.time_page").ratio == 0.01


def test_a_limit_of_a_benchmark_keeps_the_floor_in_units():
    assert settings.parse(WHOLE).limit("instructions", NAMES[0]).floor == 1.0


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[tool.benchproof]\nalfa = 0.01\n", 2, "unknown key 'alfa' (known: alpha,"),
        ("[tool.benchproof]\n\nalpha = 0\n", 3, "alpha must be a number above 0"),
        ('[tool.benchproof]\nalpha = "1 %"\n', 2, "not '1 %'"),
        ("[tool.benchproof]\nbuilds = true\n", 2, "builds must be a whole number"),
        ("[tool.benchproof]\nbuilds = 2.0\n", 2, "builds must be a whole number"),
        ("[tool.benchproof]\nbudget = inf\n", 2, "budget must be a number of seconds"),
        ('[tool.benchproof]\nsuites = ""\n', 2, "suites must be the name of a folder"),
        ('[tool.benchproof]\ndecide = "none"\n', 2, 'decide must be "all"'),
        ('[tool.benchproof]\nproof = "seen"\n', 2, 'proof must be "proved" or "witnessed"'),
        ('[tool.benchproof]\ntrade_off = "warn"\n', 2, 'trade_off must be "pass" or "fail"'),
        (
            "[tool.benchproof]\nsuite_limit = 0.0001\n",
            2,
            "suite_limit must be a number from 0.0005",
        ),
        ("[tool.benchproof]\nlimits = 3\n", 2, "limits must be a table, not 3"),
        ("[tool.benchproof.limits]\nwalls = 0.1\n", 2, "unknown meter 'walls'"),
        ('[tool.benchproof.limits]\nwall = "5 %"\n', 2, "must be a number"),
        ("[tool.benchproof.limits]\nwall = 0.001\n", 2, "must be from 0.005 to below 1, not 0.001"),
        ("[tool.benchproof.limits]\nbytes = 1\n", 2, "below 1"),
        ("[tool.benchproof.limits]\nallocations = -0.1\n", 2, "must be from 0"),
        ("[tool.benchproof.limits]\nwall = nan\n", 2, "must be from 0.005"),
        ('[tool.benchproof.benchmarks]\n"x.*" = 3\n', 2, "x.* must be a table"),
        ('[tool.benchproof.benchmarks."x.*"]\ninstructions = 0.0001\n', 2, "instructions must be"),
        ("[tool.benchproof.benchmarks.'x.y']\n\nticks = 0.1\n", 3, "unknown meter 'ticks'"),
        # What stands within one line is found by the line of its table.
        ("[tool.benchproof]\nlimits = { wall = 0.001 }\n", 2, "limit of wall"),
        ("[tool]\nbenchproof.alfa = 1\n", 2, "unknown key"),
        ("a = [\n", 1, "Invalid"),
    ],
)
def test_what_cannot_be_meant_is_an_error_with_its_line(text, line, words):
    with pytest.raises(SettingsError, match=re.escape(words)) as caught:
        settings.parse(text)
    told = str(caught.value)
    assert told.startswith(f"pyproject.toml:{line}: ")
    assert "\n" not in told


@pytest.mark.parametrize("meter", noise.LIMITS)
def test_no_limit_is_below_the_known_floor_of_its_meter(meter):
    least = noise.LIMITS[meter].least
    settings.parse(f"[tool.benchproof.limits]\n{meter} = {least}\n")
    if least:
        with pytest.raises(SettingsError, match=re.escape(noise.LIMITS[meter].why_least)):
            settings.parse(f"[tool.benchproof.limits]\n{meter} = {least / 2}\n")


def test_a_pattern_that_matches_no_benchmark_is_an_error_with_its_line():
    found = settings.parse(WHOLE)
    found.check(NAMES)
    with pytest.raises(SettingsError, match=r"^pyproject.toml:18: 'decode_rows.time_page'"):
        found.check(NAMES[:1])


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(SettingsError.__base__, match=r"pyproject\.toml"):
        settings.load(tmp_path)


def test_this_project_has_settings_that_load():
    assert settings.load(ROOT).alpha <= 0.01
