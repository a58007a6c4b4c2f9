"""What all pages and pictures share: their templates and their colours."""

import json
import re
from functools import partial
from importlib import resources
from typing import Literal

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from benchproof.gate.report import words

from . import units


def templates_of(package: str) -> Environment:
    """The templates of a package: everything is escaped, and a missing name is an error.

    All of them know the words and the numbers of the other forms.
    """
    places = [PackageLoader(package), PackageLoader("benchproof.render")]
    found = Environment(
        loader=ChoiceLoader(places), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.globals |= {"words": words, "units": units, "slug": units.slug}
    found.filters["json"] = partial(json.dumps, indent=2, sort_keys=True)
    return found


def palette(scheme: Literal["light", "dark"]) -> dict[str, str]:
    """All colours of a scheme, by name."""
    file = resources.files("benchproof.render") / "templates" / "colours.css"
    _, text = file.read_text(encoding="utf-8").split(f"{{% set {scheme} %}}")
    return dict(re.findall(r"--([\w-]+): (#\w+);", text.partition("{% endset %}")[0]))
