"""What ``import driver`` gives its users: what guides use, typed, and loaded when asked for."""

import ast
import json
import os
import re
import subprocess
import sys
from inspect import getdoc, isclass, isfunction
from pathlib import Path

import pytest
from pages import PAGES, examples

import driver

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ast.parse(Path(driver.__file__).read_text("utf-8"))
PROGRAMS = [ROOT / "tests" / "typed" / name for name in ("right.py", "wrong.py", "star.py")]
#: Modules that examples may import, because they are an entry of their own.
ENTRIES = {"driver", "driver.aio", "driver.compat", "driver.telemetry"}
CODE = [
    pytest.param(code, id=f"{page.stem}-{number}")
    for page in [*PAGES, ROOT / "driver" / "README.md"]
    if page.parent.name == "guides" or page.name == "README.md"
    for number, code in enumerate(examples(page, "python") + examples(page, "python node"), 1)
]

#: What is the user's own, or whatever there is: values of columns, rows, arguments that are handed
#: on. Everything else in a public signature has a type.
UNTYPED = {
    "SaslAuthProvider.__init__": "sasl_kwargs",
    "Cluster.run": "work",
    "ClusterOptions.of": "keywords",
    "RequestExecution.add_callbacks": ("callback_args callback_kwargs errback_args errback_kwargs"),
    "dict_factory": "return",
    "named_tuple_factory": "return",
    "ordered_dict_factory": "return",
    "tuple_factory": "return",
    "BoundStatement": "raw_values",
    "EndPointFactory.create": "row",
    "SniEndPointFactory.create": "row",
}
#: Prints each `Any` of a public class or function: its name, and that of the argument.
ANYS = """
import inspect, re, driver, driver.aio

def untyped(annotations):
    return [name for name, kind in annotations.items()
            if re.search(r"\\bAny\\b", kind if isinstance(kind, str) else repr(kind))]

found = set()
for name in {*driver.__all__, *driver.aio.__all__}:
    value = getattr(driver, name, None) or getattr(driver.aio, name)
    for kind in value.__mro__ if inspect.isclass(value) else ():
        if kind.__module__.startswith("driver"):
            own = inspect.get_annotations(kind)
            found |= {(kind.__qualname__, each) for each in untyped(own) if each[0] != "_"}
            for name, member in vars(kind).items():
                function = getattr(member, "fget", None) or getattr(member, "__func__", member)
                if inspect.isfunction(function) and (name[0] != "_" or name == "__init__"):
                    own = inspect.get_annotations(function)
                    found |= {(function.__qualname__, each) for each in untyped(own)}
    if inspect.isfunction(value):
        found |= {(name, each) for each in untyped(inspect.get_annotations(value))}
print(*(f"{name} {each}" for name, each in sorted(found)), sep="\\n")
"""


def seen_by_type_checkers():
    """(module, name there, public name) of what type checkers see."""
    (block,) = (
        node for node in SOURCE.body if isinstance(node, ast.If) and isinstance(node.test, ast.Name)
    )
    for statement in block.body:
        # The name of a class that is called otherwise there is given to it afterwards.
        for alias in statement.names if isinstance(statement, ast.ImportFrom) else ():
            name = alias.asname or alias.name
            yield f"driver.{statement.module}", alias.name, name.removeprefix("_")


def test_type_checkers_see_what_is_loaded():
    seen = list(seen_by_type_checkers())
    assert sorted(name for _, _, name in seen) == sorted(
        {*driver.__all__} - {"IMPL", "__version__"}
    )
    for module, there, name in seen:
        assert getattr(driver, name) is getattr(sys.modules[module], there)


def test_every_public_class_and_function_is_described():
    named = {name: getattr(driver, name) for name in driver.__all__}
    told = {name: value for name, value in named.items() if isclass(value) or isfunction(value)}
    assert [name for name, value in told.items() if not getdoc(value)] == []
    assert set(driver.__all__) <= set(dir(driver))


def test_public_signatures_have_types_but_for_what_is_the_users_own():
    done = subprocess.run(
        [sys.executable, "-c", ANYS],
        env=os.environ | {"DRIVER_IMPL": "python"}, cwd=ROOT, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    allowed = {f"{name} {each}" for name, some in UNTYPED.items() for each in some.split()}
    assert set(done.stdout.splitlines()) == allowed


def test_nothing_is_loaded_before_it_is_asked_for():
    script = """
import sys, driver
print(sorted(name for name in sys.modules if name.startswith("driver")))
driver.ConsistencyLevel
print(sorted(name for name in sys.modules if name.startswith("driver")))
"""
    loaded = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, cwd=ROOT
    )
    assert [ast.literal_eval(line) for line in loaded.stdout.decode().splitlines()] == [
        ["driver", "driver.implementation"],
        ["driver", "driver.implementation", "driver.protocol", "driver.protocol.consistency"],
    ]


def test_another_name_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'Custer'"):
        _ = driver.Custer


@pytest.mark.parametrize("code", CODE)
def test_an_example_imports_public_names_alone(code):
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "driver":
            assert node.module in ENTRIES, f"from {node.module} import ..."


def mypy(*files):
    return [
        "mypy", "--strict", "--config-file=", "--no-error-summary", "--hide-error-context",
        f"--cache-dir={ROOT / '.mypy_cache' / 'of-users'}", *files,
    ]  # fmt: skip


def pyright(*files):
    return ["basedpyright", "--level", "error", "--outputjson", *files]


def errors(command):
    """(name of the file, line) of every error that a type checker tells."""
    program = Path(sys.executable).with_name(command[0])
    if not program.exists():
        pytest.skip(f"{command[0]} is not installed: make setup")
    told = subprocess.run(
        [program, *command[1:]], cwd=ROOT, check=False, capture_output=True, text=True, timeout=300
    )
    assert told.returncode in (0, 1), told.stdout + told.stderr
    if command[0] == "mypy":
        found = re.findall(r"^(.+?):(\d+): error", told.stdout, re.MULTILINE)
        return {(Path(file).name, int(line)) for file, line in found}
    return {
        (Path(found["file"]).name, found["range"]["start"]["line"] + 1)
        for found in json.loads(told.stdout)["generalDiagnostics"]
    }


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_type_checkers_find_what_is_wrong_in_a_program_and_nothing_else(checker):
    wrong = {
        (file.name, number)
        for file in PROGRAMS
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if "  # wrong: " in line
    }
    assert len(wrong) > 20
    assert errors(checker(*PROGRAMS)) == wrong
