"""Every Python example in the README and in docs/ runs; integration has those that need a node."""

import re
import subprocess
import sys

import pytest
from pages import PAGES, ROOT, examples

EXAMPLES = [
    pytest.param(source, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, source in enumerate(examples(page, "python"), 1)
]
LINKS = [
    pytest.param(page, target, id=f"{page.name}-{target}")
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    if not target.startswith("reference/")  # written when the site is built
]


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_runs(source):
    # A process of its own: an example may install names that other tests must not see.
    ran = subprocess.run(
        [sys.executable, "-c", source], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_readme_has_an_example():
    assert examples(ROOT / "README.md", "python") + examples(ROOT / "README.md", "python node")


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_a_link_leads_somewhere(page, target):
    assert (page.parent / target).exists()
