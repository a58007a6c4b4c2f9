"""Sides as people write them, and what they stand for in a repository."""

import pytest

from benchproof import targets
from benchproof.errors import BenchproofError, DirtyTreeError, TargetError


@pytest.mark.parametrize(
    ("text", "revision", "impl"),
    [
        ("HEAD", "HEAD", None),
        (".", ".", None),
        ("impl:python", ".", "python"),
        ("impl:cython", ".", "cython"),
        ("HEAD~1@impl:cython", "HEAD~1", "cython"),
        (".@impl:python", ".", "python"),
        ("HEAD@{1}", "HEAD@{1}", None),
        ("feature/x@impl:python", "feature/x", "python"),
    ],
)
def test_a_side_is_a_revision_and_perhaps_an_implementation(text, revision, impl):
    assert targets.parse(text) == targets.Spec(text, revision, impl)


@pytest.mark.parametrize("text", ["", "@impl:python", "HEAD@impl:", "impl:", "--all"])
def test_what_is_no_side_is_refused(text):
    with pytest.raises(TargetError):
        targets.parse(text)


def resolve(text, place):
    return targets.resolve(targets.parse(text), place.checkout)


def test_a_clean_working_tree_has_the_content_of_its_commit(toy, place):
    assert resolve(".", place).content == resolve("HEAD", place).content
    assert not resolve(".", place).dirty
    toy.write("driver/new.py", "")
    assert resolve(".", place).dirty
    assert resolve(".", place).content != resolve("HEAD", place).content


def test_only_what_is_built_is_content(toy, place):
    before = resolve(".", place).content
    toy.write("README.md", "words")
    toy.edit("pyproject.toml", 'name = "toy"', 'name = "toy"\ndescription = "words"')
    assert resolve(".", place).content == before
    toy.edit("pyproject.toml", '"setuptools"', '"setuptools>=1"')
    assert resolve(".", place).content != before


def test_ignored_files_are_not_content(toy, place):
    toy.write(".gitignore", "*.so\n")
    toy.commit("ignore")
    before = resolve(".", place).content
    toy.write("driver/left_over.so", "")
    assert resolve(".", place).content == before


def test_branches_tags_and_old_commits_resolve(toy, place):
    first = toy.git("rev-parse", "HEAD")
    toy.git("tag", "v1")
    toy.commit("second")
    assert {resolve(text, place).commit for text in ("v1", "HEAD~1", first[:9])} == {first}
    assert resolve("main", place).subject == "second"


def test_an_unknown_commit_is_named(place):
    with pytest.raises(TargetError, match="unknown commit: 'nope'"):
        resolve("nope", place)


def test_a_tree_without_a_driver_is_refused(toy, place):
    toy.git("rm", "-r", "--quiet", "driver")
    toy.commit("no driver")
    with pytest.raises(TargetError, match="not clear which package"):
        resolve("HEAD", place)


def test_measuring_head_beside_uncommitted_edits_is_refused(toy, place):
    toy.commit("second")
    clean = (resolve("HEAD~1", place), resolve("HEAD", place))
    targets.refuse_dirty(clean, place.checkout)
    toy.write("driver/work.py", "x = 1\n")
    with pytest.raises(DirtyTreeError, match=r"driver/work\.py.*--committed"):
        targets.refuse_dirty(clean, place.checkout)
    targets.refuse_dirty((clean[1], resolve(".", place)), place.checkout)
    targets.refuse_dirty((clean[0],), place.checkout)


def test_a_place_without_git_is_told(tmp_path):
    from benchproof.checkout import Checkout

    with pytest.raises(BenchproofError, match="not inside a git checkout"):
        Checkout.around(tmp_path)


def test_a_pyproject_alone_is_enough_to_build_from(toy, place):
    before = resolve("HEAD", place).content
    (toy.root / "setup.py").unlink()
    toy.write("pyproject.toml", '[build-system]\nbuild-backend = "setuptools.build_meta"\n')
    toy.commit("no setup.py")
    assert resolve("HEAD", place).content not in {"", before}


def test_every_table_counts_where_the_backend_is_not_setuptools(toy, place):
    other = '[build-system]\nbuild-backend = "hatchling.build"\n[tool.hatch]\n'
    toy.write("pyproject.toml", other)
    toy.commit("another backend")
    before = resolve("HEAD", place).content
    toy.write("pyproject.toml", other + "something = 1\n")
    toy.commit("which reads its own table")
    assert resolve("HEAD", place).content != before
