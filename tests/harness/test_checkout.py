"""The project's git repository, as the tool asks it."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path

import pytest

import benchproof
from benchproof import files
from benchproof.checkout import Checkout
from benchproof.errors import TargetError
from tests.harness.toy import Repository


@pytest.fixture
def project(tmp_path):
    return Repository(tmp_path / "project")


def test_a_side_has_what_archives_leave_out_or_fill_in(project, tmp_path):
    attributes = "bench/ export-ignore\nversion.txt export-subst\n*.dos text eol=crlf\n"
    project.write(".gitattributes", attributes)
    project.write("version.txt", "$Format:%H$\n")
    project.write("bench/data.dos", "one\ntwo\n")
    project.write("bench/näh.py", "X = 1\n")
    project.write("run.sh", "true\n")
    (project.root / "run.sh").chmod(0o755)
    (project.root / "bench/link").symlink_to("../version.txt")
    project.commit("one")
    project.write(".gitattributes", "* export-ignore\n")  # of no commit
    project.git("config", "core.sparseCheckout", "true")
    (project.root / ".git/info").mkdir(exist_ok=True)
    (project.root / ".git/info/sparse-checkout").write_text("/run.sh\n")
    before = project.git("status", "--porcelain")

    whole, part = tmp_path / "whole", tmp_path / "part"
    Checkout(project.root).export("HEAD", whole)
    Checkout(project.root).export("HEAD", part, "bench")

    def held(folder):
        found = {each for each in folder.rglob("*") if each.is_symlink() or each.is_file()}
        assert len({each.lstat().st_mtime_ns for each in found}) == 1
        return {each.relative_to(folder).as_posix() for each in found}

    of_bench = {"bench/data.dos", "bench/näh.py", "bench/link"}
    assert held(part) == of_bench
    assert held(whole) == {".gitattributes", "run.sh", "version.txt"} | of_bench
    assert (whole / "version.txt").read_text() == "$Format:%H$\n"
    assert [(each / "bench/data.dos").read_bytes() for each in (whole, part)] == [
        b"one\r\ntwo\r\n"
    ] * 2
    assert (whole / "bench/link").readlink() == Path("../version.txt")
    assert os.access(whole / "run.sh", os.X_OK)
    assert project.git("status", "--porcelain") == before
    assert {each.name for each in tmp_path.iterdir()} == {"project", "whole", "part"}


def test_a_commit_of_a_bare_repository_and_of_a_linked_worktree_is_written(project, tmp_path):
    project.write("module.py", "X = 1\n")
    project.commit("one")
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    project.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    for name in ("linked", "bare"):
        Checkout(tmp_path / name).export("HEAD", tmp_path / f"{name}-tree")
        assert (tmp_path / f"{name}-tree/module.py").read_text() == "X = 1\n"


def test_an_archive_is_unpacked_by_a_python_whose_tarfile_has_no_filters(monkeypatch, tmp_path):
    """Python 3.11.2, which Debian 12 has: no `filter` argument and no `data_filter`."""
    (tmp_path / "module.py").write_text("X = 1\n")
    with tarfile.open(tmp_path / "one.tar", "w") as made:
        made.add(tmp_path / "module.py", "module.py")
    extract = tarfile.TarFile.extractall

    def as_before(tar, path):
        extract(tar, path)

    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", as_before)

    with tarfile.open(tmp_path / "one.tar") as tar:
        files.unpack(tar, tmp_path / "tree")

    assert (tmp_path / "tree/module.py").read_text() == "X = 1\n"


def test_every_archive_is_unpacked_by_what_knows_older_pythons():
    harness = Path(benchproof.__file__).parent
    calls = [file.name for file in harness.rglob("*.py") if ".extractall(" in file.read_text()]
    assert calls == ["files.py"]


def test_what_names_no_commit_is_told_with_what_to_do(project, tmp_path):
    for _ in range(2):
        project.write("text", f"{_}")
        project.commit("words")
    whole = Checkout.around(project.root)
    project.git("clone", "--depth=1", project.root.as_uri(), str(tmp_path / "shallow"))
    shallow = Checkout.around(tmp_path / "shallow")
    for checkout, revision, end in (
        (whole, "HEAB", "names nothing in project; did you mean HEAD?"),
        (whole, "HEAD~9", "'HEAD~9' names nothing in project"),
        (shallow, "HEAD~1", "a shallow clone: `git fetch --unshallow` brings what it lacks"),
    ):
        with pytest.raises(TargetError) as caught:
            checkout.commit(revision)
        assert str(caught.value).endswith(end)
