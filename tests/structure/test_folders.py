"""Every folder with tests in it is run by a plain ``pytest``."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_folder_of_tests_has_its_place_in_the_order():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]
    found = {path.relative_to(ROOT).parts[1] for path in (ROOT / "tests").rglob("test_*.py")}
    assert settings["ini_options"]["testpaths"] == list(
        dict.fromkeys(settings["ini_options"]["testpaths"])
    )
    assert {Path(path).name for path in settings["ini_options"]["testpaths"]} == found
