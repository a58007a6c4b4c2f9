"""Sphinx settings: the site is built from the Markdown pages here and the driver's docstrings."""

import os
import sys
from pathlib import Path

# The reference shows the pure form; a compiled module has neither source nor signatures to show.
os.environ["DRIVER_IMPL"] = "python"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

import driver  # noqa: E402  (only now can it be found)

project = "benchproof"
author = "The benchproof maintainers"
copyright = "the benchproof maintainers"  # noqa: A001  (Sphinx asks for this name)
release = version = driver.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "reference",
]
# Pages of source code are three fifths of the time of a build; nothing in them could be wrong.
if not tags.has("check"):  # noqa: F821  (Sphinx puts it here)
    extensions.append("sphinx.ext.viewcode")
exclude_patterns = ["_build", "_ext"]
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Pages link to files of the repository that are no pages of the site; protocols of one layer have
# the name of the class of another that fulfils them.
suppress_warnings = ["myst.xref_missing", "ref.python"]

autodoc_default_options = {"members": True, "show-inheritance": True, "undoc-members": False}
autodoc_member_order = "bysource"
# Built against a library of the system, which need not be there to read of it.
autodoc_mock_imports = ["gssapi"]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"benchproof {release}"
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = "$ "
