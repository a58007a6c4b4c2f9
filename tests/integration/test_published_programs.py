"""Published programs that stand on the `cassandra` package print what they print there.

They bring cassandra-driver with them. `scripts/programs-env` makes an environment that has them;
PROGRAMS_PYTHON names another interpreter. Without either, those that this one has are run.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "compat_programs" / "published"
MADE = ROOT / ".benchproof" / "programs" / "bin" / "python"
PYTHON = os.environ.get("PROGRAMS_PYTHON") or str(MADE if MADE.exists() else sys.executable)
#: What differs from run to run: rates and times of COPY.
_RATES = re.compile(r"Processed: .*|.* rows (?:ex|im)ported .*")
#: When a migration was applied.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S*")

pytestmark = [pytest.mark.once, pytest.mark.within(300)]


@pytest.fixture(scope="module")
def path_to_driver(tmp_path_factory):
    """A folder with this driver alone, so that nothing else of the checkout is imported."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "driver").symlink_to(ROOT / "driver")
    return folder


def needs(package):
    asked = [PYTHON, "-c", f"import {package}"]
    if subprocess.run(asked, check=False, capture_output=True).returncode:
        pytest.skip(f"{package} is not installed for {PYTHON}")


def output(path, *command, folder=None):
    done = subprocess.run(
        [PYTHON, "-W", "ignore", *command],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=140,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return [line for line in done.stdout.splitlines() if not _RATES.search(line)]


@pytest.mark.parametrize(
    ("program", "package"),
    [
        ("cassio_tables", "cassio"),
        ("otel_spans", "opentelemetry.instrumentation.cassandra"),
        ("django_models", "django_cassandra_engine"),
        ("dask_loader", "dask_cassandra_loader"),
    ],
)
def test_a_program_prints_the_same(program, package, one_node, path_to_driver):
    needs(package)
    arguments = [FOLDER / f"{program}.py", one_node.addresses[0]]
    arguments += [] if program == "otel_spans" else [f"published_{program}"]
    ours = output(path_to_driver, "-m", "driver.compat", *arguments)
    assert ours
    assert ours == output(path_to_driver, *arguments)


def test_cqlsh_selects_describes_and_copies(one_node, path_to_driver, tmp_path):
    needs("cqlshlib")
    said = {}
    for way in ("ours", "theirs"):
        text = (FOLDER / "shell.cql").read_text()
        text = text.replace("KEYSPACE_NAME", "published_cqlsh")
        file = tmp_path / f"{way}.cql"
        file.write_text(text.replace("CSV_FILE", str(tmp_path / f"{way}.csv")))
        shell = [Path(PYTHON).with_name("cqlsh"), one_node.addresses[0], "-f", file]
        through = ["-m", "driver.compat"] if way == "ours" else []
        said[way] = output(path_to_driver, *through, *shell)
    rows = [line for line in said["ours"] if "it's" in line]
    assert len(rows) == 2, "one before, one after they were copied out and in"
    assert said["ours"] == said["theirs"]
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()


def test_cassandra_migrate_applies_migrations_and_tells_of_them(one_node, path_to_driver, tmp_path):
    needs("cassandra_migrate")
    (tmp_path / "cassandra-migrate.yml").write_text(
        "keyspace: published_migrate\nmigrations_path: .\nprofiles: {dev: {replication: "
        "{class: SimpleStrategy, replication_factor: 1}}}\n"
    )
    (tmp_path / "v001_words.cql").write_text(
        "CREATE TABLE words (word text PRIMARY KEY, uses int);\n"
        "INSERT INTO words (word, uses) VALUES ('one; two', 1);\n"
    )
    (tmp_path / "v002_languages.cql").write_text("ALTER TABLE words ADD language text;\n")
    migrate = [Path(PYTHON).with_name("cassandra-migrate"), "-H", one_node.addresses[0], "-y"]
    said = {}
    for through in ("-m driver.compat", ""):
        lines = []
        for verb in ("reset 1", "status", "migrate", "status"):
            command = (*through.split(), *migrate, *verb.split())
            lines += output(path_to_driver, *command, folder=tmp_path)
        said[through] = [_MOMENT.sub("", line) for line in lines]
    assert any("v002_languages.cql" in line and "SUCCEEDED" in line for line in said[""])
    assert said["-m driver.compat"] == said[""]
