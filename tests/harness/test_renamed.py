"""What had the name of before the rename is read, with one line that says so."""

import pytest

from benchproof import files, package, renamed, settings
from benchproof.errors import SettingsError


@pytest.fixture(autouse=True)
def nothing_said_yet():
    renamed.say.cache_clear()
    yield
    renamed.say.cache_clear()


def test_the_old_table_is_read_and_said_once(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text('[tool.hotpath]\nbudget = 7\npackage = "src/acme"\n')
    assert settings.load(tmp_path).budget == 7
    assert package.place(tmp_path) == "src/acme"
    line = "[tool.hotpath] is read as [tool.benchproof]: rename the table in pyproject.toml"
    assert capsys.readouterr().err.splitlines() == [f"benchproof: {line}"]


def test_an_error_in_the_old_table_names_its_line():
    with pytest.raises(SettingsError, match=r"pyproject\.toml:2: unknown key 'nonsense'"):
        settings.parse("[tool.hotpath]\nnonsense = 1\n")


def test_the_new_table_wins_over_the_old_one(capsys):
    both = "[tool.hotpath]\nbudget = 7\n[tool.benchproof]\nbudget = 9\n"
    assert settings.parse(both).budget == 9
    assert not capsys.readouterr().err


def test_the_old_variable_is_read_and_said(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BENCHPROOF_CACHE", raising=False)
    monkeypatch.setenv("HOTPATH_CACHE", str(tmp_path / "old"))
    assert files.cache_of(tmp_path) == tmp_path / "old"
    assert "HOTPATH_CACHE is read as BENCHPROOF_CACHE" in capsys.readouterr().err
    monkeypatch.setenv("BENCHPROOF_CACHE", str(tmp_path / "new"))
    assert files.cache_of(tmp_path) == tmp_path / "new"


def test_an_old_cache_is_named_so_that_it_can_be_removed(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("BENCHPROOF_CACHE", raising=False)
    (tmp_path / ".hotpath").mkdir()
    assert files.cache_of(tmp_path) == tmp_path / ".benchproof"
    assert str(tmp_path / ".hotpath") in capsys.readouterr().err


def test_the_cache_of_a_checkout_does_not_show_in_git(tmp_path, monkeypatch):
    import subprocess

    monkeypatch.delenv("BENCHPROOF_CACHE", raising=False)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (files.cache_of(tmp_path) / "sides").mkdir()
    (files.cache_of(tmp_path) / "sides" / "x").touch()
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    done = subprocess.run(status, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == ""
