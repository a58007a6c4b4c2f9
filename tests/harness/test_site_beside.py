"""A folder is replaced as a whole, or not at all."""

import os
import shutil

import pytest

from benchproof.errors import BenchproofError, SiteError
from benchproof.site import beside as module
from benchproof.site.beside import beside


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "html"
    folder.mkdir()
    (folder / "index.html").write_text("old")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_new_folder_takes_the_place_of_the_old_one(place, tmp_path):
    with beside(place, tmp_path / "locks", ["index.html"]) as fresh:
        (fresh / "index.html").write_text("new")
        assert (place / "index.html").read_text() == "old"
    assert (place / "index.html").read_text() == "new"
    assert names(tmp_path) == ["html", "locks"]


def test_a_place_that_does_not_exist_is_made(tmp_path):
    place = tmp_path / "deep" / "html"
    with beside(place, tmp_path / "locks", []) as fresh:
        (fresh / "a").write_text("a")
    assert (place / "a").read_text() == "a"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder_and_nothing_beside_it(place, tmp_path, error):
    def interrupted():
        with beside(place, tmp_path / "locks", ["index.html"]) as fresh:
            (fresh / "index.html").write_text("half")
            raise error

    with pytest.raises(error):
        interrupted()
    assert (place / "index.html").read_text() == "old"
    assert names(tmp_path) == ["html", "locks"]


def test_what_others_have_put_there_is_kept_and_what_is_ours_is_not(place, tmp_path):
    (place / "run.html").write_text("run")
    (place / "pictures").mkdir()
    (place / "pictures" / "one.svg").write_text("svg")
    (place / "gone.html").write_text("of an older site")
    with beside(place, tmp_path / "locks", ["index.html", "gone.html"]) as fresh:
        (fresh / "index.html").write_text("new")
        (place / "late.html").write_text("written meanwhile")
    assert names(place) == ["index.html", "late.html", "pictures", "run.html"]
    assert (place / "pictures" / "one.svg").read_text() == "svg"


def test_what_a_killed_process_left_is_removed(place, tmp_path):
    left = tmp_path / ".html.beside-1"
    left.mkdir()
    (left / "half.html").write_text("half")
    with beside(place, tmp_path / "locks", ["index.html"]) as fresh:
        (fresh / "index.html").write_text("new")
    assert names(tmp_path) == ["html", "locks"]


def test_two_at_once_are_refused(place, tmp_path):
    with beside(place, tmp_path / "locks", ["index.html"]) as fresh:
        (fresh / "index.html").write_text("first")
        second = beside(place, tmp_path / "locks", ["index.html"])
        with pytest.raises(SiteError, match="another process"):
            second.__enter__()
    assert (place / "index.html").read_text() == "first"


def test_without_an_exchange_of_names_it_is_moved_in_two_steps(place, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_exchanged", lambda *_: False)
    with beside(place, tmp_path / "locks", ["index.html"]) as fresh:
        (fresh / "index.html").write_text("new")
    assert (place / "index.html").read_text() == "new"
    assert names(tmp_path) == ["html", "locks"]


def test_if_the_second_step_fails_the_old_folder_is_put_back(place, tmp_path, monkeypatch):
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    monkeypatch.setattr(module, "_exchanged", lambda *_: False)
    rename = type(place).rename

    def fail(source, target):
        if source == fresh:
            raise OSError(5, "no", str(source))
        return rename(source, target)

    monkeypatch.setattr(type(place), "rename", fail)
    with pytest.raises(OSError, match="no"):
        module.exchange(fresh, place)
    assert (place / "index.html").read_text() == "old"


def test_a_file_system_without_links_gets_copies(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("a")

    def refuse(*_):
        raise OSError(95, "not supported")

    monkeypatch.setattr(os, "link", refuse)
    module.link(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "a"


def test_a_full_disk_is_told_in_a_line(place, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", str(place))

    monkeypatch.setattr(shutil, "copytree", full)
    (place / "pictures").mkdir()
    with pytest.raises(BenchproofError, match="no space left"):  # noqa: SIM117  (the inner one raises)
        with beside(place, tmp_path / "locks", ["index.html"]):
            pass
    assert (place / "index.html").read_text() == "old"
