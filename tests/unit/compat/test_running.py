"""`python -m driver.compat` and the pytest plugin: programs and test suites run unchanged."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SAYS = """
    import sys
    from cassandra.query import SimpleStatement
    print(SimpleStatement.__module__, __name__, sys.argv[1:])
    """
EXPECTED = "driver.statements.simple __main__ ['--flag', 'value']"


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "app" / "program.py"
    path.parent.mkdir()
    path.write_text(textwrap.dedent(SAYS), encoding="utf-8")
    return path


def test_a_script_runs_as_main_with_its_arguments(program):
    done = run(program.parents[1], "-m", "driver.compat", program, "--flag", "value")
    assert done.stdout.strip() == EXPECTED, done.stderr


def test_a_script_finds_what_lies_beside_it(program):
    program.with_name("beside.py").write_text("WORD = 'found'", encoding="utf-8")
    program.write_text("import beside; print(beside.WORD, __file__)", encoding="utf-8")
    done = run(program.parents[1], "-m", "driver.compat", program)
    assert done.stdout.split() == ["found", str(program)], done.stderr


def test_a_module_runs_as_main_with_its_arguments(program):
    done = run(program.parent, "-m", "driver.compat", "-m", "program", "--flag", "value")
    assert done.stdout.strip() == EXPECTED, done.stderr


def test_a_folder_with_a_main_runs(program):
    program.rename(program.with_name("__main__.py"))
    done = run(program.parents[1], "-m", "driver.compat", "app", "--flag", "value")
    assert done.stdout.strip() == EXPECTED, done.stderr


def test_the_exit_status_is_the_program_s(program):
    program.write_text("raise SystemExit(3)", encoding="utf-8")
    assert run(program.parent, "-m", "driver.compat", program).returncode == 3


def test_an_exception_ends_the_program_with_its_traceback(program):
    program.write_text("import cassandra\ncassandra.nothing", encoding="utf-8")
    done = run(program.parent, "-m", "driver.compat", program)
    assert done.returncode == 1
    assert "program.py" in done.stderr
    assert "served by driver.compat" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("-m",), ("--help",)])
def test_without_a_program_the_usage_is_said(program, arguments):
    done = run(program.parent, "-m", "driver.compat", *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("usage: python -m driver.compat")


def test_the_pytest_plugin_serves_conftest_and_tests_and_leaves_nothing(program):
    program.with_name("conftest.py").write_text(
        "from cassandra.query import SimpleStatement\n", encoding="utf-8"
    )
    program.with_name("test_app.py").write_text(
        textwrap.dedent(
            """
            from unittest import mock
            from cassandra.cluster import Cluster

            def test_names():
                assert Cluster.__module__.startswith("driver.")

            @mock.patch("cassandra.cluster.Cluster")
            def test_patch(fake):
                import cassandra.cluster
                cassandra.cluster.Cluster(["10.0.0.1"]).connect().execute("SELECT")
                fake.return_value.connect.return_value.execute.assert_called_once_with("SELECT")
            """
        ),
        encoding="utf-8",
    )
    done = run(program.parent, "-m", "pytest", "-q", "-p", "driver.compat.pytest_plugin")
    assert "2 passed" in done.stdout, done.stdout + done.stderr
