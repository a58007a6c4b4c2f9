"""Without the interpreter's lock, and in sub-interpreters: what holds there, or is refused."""

import importlib.util
import os
import subprocess
import sys
import sysconfig

import pytest
from cql_cluster import CqlCluster
from cql_node import rows

import driver
from driver.types import Int32Type

needs_no_lock = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this Python is not free-threaded: `uv python install 3.14t` brings one that is",
)
needs_interpreters = pytest.mark.skipif(
    importlib.util.find_spec("concurrent.interpreters") is None,
    reason="this Python has no concurrent.interpreters: 3.14 has",
)


def run(program, implementation):
    """Run a program in a process of its own, in which warnings are errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "DRIVER_IMPL": implementation, "PYTHON_GIL": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@needs_no_lock
def test_no_module_of_the_driver_brings_the_lock_back():
    outcome = run(
        "import sys; from importlib import import_module; import driver\n"
        "from driver.implementation import TWINS\n"
        "for twin in TWINS: import_module(f'driver.{twin}')\n"
        "print(driver.IMPL, sys._is_gil_enabled())",
        driver.IMPL,
    )
    assert outcome.stdout == f"{driver.IMPL} False\n", outcome.stderr


def in_another_interpreter(lines):
    """A program that runs lines of another one in an interpreter with a lock of its own."""
    program = f"import sys; sys.path[:] = {sys.path!r}\n{lines}"
    return (
        "from concurrent import interpreters\n"
        "inside = interpreters.create()\n"
        f"try: inside.exec({program!r})\n"
        "finally: inside.close()"
    )


@needs_interpreters
@pytest.mark.skipif(driver.IMPL != "cython", reason="pure Python works there")
def test_compiled_modules_refuse_other_interpreters():
    outcome = run(in_another_interpreter("from driver import Cluster"), "cython")
    assert "does not support loading in subinterpreters" in outcome.stderr
    assert outcome.returncode == 1


@needs_interpreters
def test_pure_python_asks_and_is_answered_in_another_interpreter():
    with CqlCluster(1) as nodes:
        nodes.when("SELECT n", rows([("n", Int32Type)], [(7,)]))
        outcome = run(
            in_another_interpreter(
                "import asyncio; from driver.aio import Cluster\n"
                "async def main():\n"
                f"    async with Cluster(**{nodes.options!r}) as cluster:\n"
                "        session = await cluster.connect()\n"
                "        print((await session.execute('SELECT n')).one().n)\n"
                "asyncio.run(main())"
            ),
            "python",
        )
    assert outcome.stdout == "7\n", outcome.stderr
