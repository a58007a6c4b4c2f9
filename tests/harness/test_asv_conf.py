"""The folder of the benchmarks is found where asv finds it."""

import subprocess
import sys

import pytest

from benchproof import asv_conf
from benchproof.commands import options
from benchproof.errors import TargetError

CONF = """{
    // a comment, as asv's own template has them; "benchmark_dir": "wrong"
    "version": 1,
    "project": "acme", /* another */
    "benchmark_dir": "speed",
}
"""


def write(root, name, text=CONF):
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_without_any_word_it_is_the_default(tmp_path):
    assert asv_conf.locate(tmp_path) == (tmp_path / "asv_benchmarks", "")


def test_asv_s_file_at_the_root_names_it(tmp_path):
    write(tmp_path, "asv.conf.json")
    found = asv_conf.locate(tmp_path)
    assert found.folder == tmp_path / "speed"
    assert found.why == "benchmarks: speed/, named by asv.conf.json"


@pytest.mark.parametrize("folder", ["bench", "benchmarks", "asv_bench"])
def test_asv_s_file_one_folder_below_names_it_from_there(tmp_path, folder):
    write(tmp_path, f"{folder}/asv.conf.json")
    write(tmp_path, ".venv/asv.conf.json")
    write(tmp_path, "deep/er/asv.conf.json")
    found = asv_conf.locate(tmp_path)
    assert found.folder == tmp_path / folder / "speed"
    assert found.why == f"benchmarks: {folder}/speed/, named by {folder}/asv.conf.json"


def test_where_asv_s_file_names_none_it_is_asv_s_default(tmp_path):
    write(tmp_path, "bench/asv.conf.jsonc", '{"version": 1}')
    assert asv_conf.locate(tmp_path).folder == tmp_path / "bench" / "benchmarks"


def test_our_own_setting_comes_first(tmp_path):
    write(tmp_path, "asv.conf.json")
    write(tmp_path, "pyproject.toml", '[tool.benchproof]\nsuites = "mine"\n')
    assert asv_conf.locate(tmp_path) == (tmp_path / "mine", "")


def test_several_are_no_answer(tmp_path):
    write(tmp_path, "a/asv.conf.json")
    write(tmp_path, "b/asv.conf.json")
    with pytest.raises(TargetError, match=r"a/asv\.conf\.json and b/asv\.conf\.json"):
        asv_conf.locate(tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "cannot be read"), ('{"benchmark_dir": 3}', "must be the name"), ("[]", "must be")],
)
def test_a_file_that_cannot_be_meant_is_one_line(tmp_path, text, words):
    write(tmp_path, "asv.conf.json", text)
    with pytest.raises(TargetError, match=words) as failure:
        asv_conf.locate(tmp_path)
    assert "\n" not in str(failure.value)


HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.mark.parametrize(("text", "words"), [
    ("{}", ""),
    (f'{{"pythons": ["{HERE}"], "exclude": [], "install_command": null}}', ""),
    ('{"build_command": ["make"], "install_command": []}', ""),
    (f'{{"pythons": ["3.8", "{HERE}"]}}', f"pythons; builds run on Python {HERE}"),
    ('{"pythons": ["3.8"], "include": [{}], "exclude": [{}]}',
     (f"pythons, include, exclude; builds run on Python {HERE}, "
      "the variants are all combinations of the matrix")),
])  # fmt: skip
def test_what_asv_s_file_sets_and_is_not_followed_is_one_line(tmp_path, text, words):
    write(tmp_path, "bench/asv.conf.json", text)
    start = "not read in asv's configuration: "
    assert asv_conf.unread(tmp_path) == (words and start + words)


@pytest.mark.parametrize("text", [
    "{}", '{"build_command": null}',
    """{"build_command": [
        "python setup.py build", "python -mpip wheel -w {build_cache_dir} {build_dir}"
     ], "install_command": "in-dir={env_dir} python -mpip install {wheel_file}"}""",
    """{"build_command": [
        "python -m pip install build", "python -m build --wheel -o {build_cache_dir} {build_dir}"
     ], "install_command": [
        "in-dir={env_dir} python -m pip install --no-deps {wheel_file} --force-reinstall"
     ]}""",
    """{"build_command": [
        "PIP_NO_BUILD_ISOLATION=1 python -m pip wheel --no-index -w {build_cache_dir} {build_dir}"
     ]}""",
])  # fmt: skip
def test_commands_that_come_to_asv_s_own_are_none(tmp_path, text):
    write(tmp_path, "asv.conf.json", text)
    assert asv_conf.commands(tmp_path) is None


@pytest.mark.parametrize(("text", "build", "install"), [
    ('{"build_command": "make", "project": "acme"}', ("make",), None),
    ('{"install_command": ["a", "b"], "project": "acme"}', None, ("a", "b")),
    ("""{"build_command": [], "project": "acme",
         "install_command": "python -m pip install {wheel_file}[more]"}""",
     (), ("python -m pip install {wheel_file}[more]",)),
])  # fmt: skip
def test_other_commands_are_followed(tmp_path, text, build, install):
    write(tmp_path, "bench/asv.conf.json", text)
    assert asv_conf.commands(tmp_path) == (build, install, "", "acme", tmp_path / "bench")


def test_a_project_that_names_its_benchmarks_here_follows_nothing_of_asv_s_file(tmp_path):
    write(tmp_path, "asv.conf.json", '{"build_command": ["make"], "pythons": ["3.8"]}')
    assert asv_conf.unread(tmp_path)
    assert asv_conf.commands(tmp_path)
    write(tmp_path, "pyproject.toml", '[tool.benchproof]\nsuites = "mine"\n')
    assert asv_conf.unread(tmp_path) == ""
    assert asv_conf.commands(tmp_path) is None


@pytest.mark.parametrize("sides", [(), (".", ".")])
def test_each_command_that_measures_says_so_once(tmp_path, sides, capsys, monkeypatch):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True, timeout=30)
    write(tmp_path, "asv.conf.json", '{"pythons": ["3.8"], "benchmark_dir": "speed"}')
    monkeypatch.chdir(tmp_path)
    options.place_of(None, *sides)
    assert capsys.readouterr().err.splitlines() == [
        "benchmarks: speed/, named by asv.conf.json",
        f"not read in asv's configuration: pythons; builds run on Python {HERE}",
    ]


def test_a_folder_that_is_not_there_is_told_with_what_to_do(tmp_path):
    remedies = r"init.*--import.*--suites.*\[tool.benchproof\].*asv.conf.json"
    with pytest.raises(TargetError, match=remedies):
        asv_conf.require(tmp_path / "nothing")
