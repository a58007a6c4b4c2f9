"""A published site, and what its data files hold when a page reads them."""

import base64
import json
import re
import subprocess

import numpy as np
from rich.console import Console

from benchproof.changes import search
from benchproof.checkout import Checkout
from benchproof.history import asv_files
from benchproof.progress import Lines
from benchproof.site.publication import Asked, publish
from tests.harness.sample_history import make_changes, make_history

QUIET = Lines(Console(quiet=True))


def make_checkout(folder):
    """A git checkout without anything that publishing needs."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return Checkout(folder)


def give_history(monkeypatch, history, found=None):
    """Let publishing find a history and its changes, without measuring or searching."""
    monkeypatch.setattr(asv_files, "load", lambda *_, **__: history)
    known = make_changes(history) if found is None else found
    monkeypatch.setattr(search, "find_all", lambda *_, **__: known)


def make_site(place, monkeypatch, history=None, **asked):
    """Publish a history; what `publish` returns."""
    give_history(monkeypatch, make_history() if history is None else history)
    checkout = make_checkout(place / "checkout")
    reports = checkout.root / "reports"
    (reports / "results" / "asv").mkdir(parents=True, exist_ok=True)
    choice = Asked(reports, place / "out", **({"asv": False} | asked))
    return publish(choice, checkout, place / "cache", QUIET)


def given(page_folder, name):
    """The piece of data of a name, as a page gets it."""
    (file,) = (page_folder / "site" / "data").glob(f"{name}-????????????.js")
    return parse(file)


def parse(file):
    match = re.fullmatch(r'benchproof\.give\("[^"]+",(.*)\);\n', file.read_text("utf-8"), re.DOTALL)
    return json.loads(match[1])


def floats(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def places(text):
    return np.frombuffer(base64.b64decode(text), "<u2")
