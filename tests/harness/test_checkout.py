"""The project's git repository, as the tool asks it."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import benchproof
from benchproof.checkout import Checkout


def test_a_commit_is_unpacked_by_a_python_whose_tarfile_has_no_filters(monkeypatch, tmp_path):
    """Python 3.11.2, which Debian 12 has: no `filter` argument and no `data_filter`."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "module.py").write_text("X = 1\n")
    git = ("git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(root))
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        subprocess.run([*git, *words], check=True)
    extract = tarfile.TarFile.extractall

    def as_before(tar, path):
        extract(tar, path)

    monkeypatch.delattr(tarfile, "data_filter", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", as_before)

    target = tmp_path / "tree"
    target.mkdir()
    Checkout(root).export("HEAD", target)

    assert (target / "module.py").read_text() == "X = 1\n"


def test_every_archive_is_unpacked_by_what_knows_older_pythons():
    harness = Path(benchproof.__file__).parent
    calls = [file.name for file in harness.rglob("*.py") if ".extractall(" in file.read_text()]
    assert calls == ["files.py"]
