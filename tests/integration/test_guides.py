"""The examples of the README and the guides that talk to a node, run as they stand there."""

import re
import subprocess
import sys

import pytest
from pages import PAGES, ROOT, examples

WITH_A_NODE = [page for page in PAGES if examples(page, "python node")]
KEYSPACE = re.compile(r"CREATE KEYSPACE IF NOT EXISTS (\w+)")


@pytest.fixture
def run(one_node, session):
    """Run a page's examples, one after the other in one process, and drop what they made."""
    made = []

    def run_page(page):
        source = "\n".join(examples(page, "python node"))
        made.extend(KEYSPACE.findall(source))
        # A process of its own, as a reader would have; the node of the tests may be elsewhere.
        source = source.replace("127.0.0.1", one_node.addresses[0])
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", source],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    yield run_page
    for name in made:
        session.execute(f"DROP KEYSPACE IF EXISTS {name}", timeout=30)


def case(page):
    """A page as the parameter of a test."""
    since = [pytest.mark.since("4.0", "protocol v5")] if page.stem == "quick-start" else []
    return pytest.param(page, id=page.stem, marks=since)


@pytest.mark.parametrize("page", [case(page) for page in WITH_A_NODE])
def test_the_examples_of_a_page_run(run, page):
    ran = run(page)
    assert ran.returncode == 0, ran.stderr


def test_the_readme_and_the_guides_have_such_examples():
    names = {page.stem for page in WITH_A_NODE}
    assert names >= {"README", "quick-start", "awaitable", "policies", "types"}
