"""Every Python example in the README and in docs/ runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCED = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(FENCED.findall(page.read_text(encoding="utf-8")), 1)
]
LINKS = [
    pytest.param(page, target, id=f"{page.name}-{target}")
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("source", EXAMPLES)
def test_an_example_runs(source):
    exec(compile(source, "<example>", "exec"), {"__name__": "example"})  # noqa: S102


def test_the_readme_has_an_example():
    assert any(parameter.id.startswith("README") for parameter in EXAMPLES)


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_a_link_leads_somewhere(page, target):
    assert (page.parent / target).exists()
