"""asv's own site of the same results, made by asv, in a folder of ours."""

from __future__ import annotations

import html
import json
import sys
from typing import TYPE_CHECKING, Any

from benchproof import asv_conf, files, processes
from benchproof.errors import SiteError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchproof.checkout import Checkout

#: Of its output, the lines that are quoted where it fails.
_QUOTED = 5


def publish(checkout: Checkout, results: Path, folder: Path) -> None:
    """Run `asv publish`.

    Args:
        checkout: with the settings.
        results: asv's results.
        folder: for the site.

    Raises:
        SiteError: there is nothing to publish, or it failed.
    """
    own = asv_conf.whole(checkout.root)
    if not own:
        raise SiteError("there is no asv.conf.json that asv can read")
    if not (results / "benchmarks.json").exists():
        raise SiteError("the results have no benchmarks.json, which asv writes when it measures")
    with files.scratch() as scratch:
        config = scratch / "asv.conf.json"
        config.write_text(json.dumps(_absolute(own, checkout, results, folder)), encoding="utf-8")
        command = [sys.executable, "-m", "asv", "publish", "--no-pull", "--config", str(config)]
        status, text = processes.run(command, cwd=checkout.root)
    if status:
        said = text.strip().splitlines()[-_QUOTED:]
        raise SiteError("asv publish failed: " + " / ".join(said))


def explain(folder: Path, why: str) -> None:
    """Where there is no site of asv's, neither a new one nor an old one, say so to who looks."""
    page = folder / "index.html"
    if page.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>asv</title>'
        f"<h1>asv's own site was not made</h1><p>{html.escape(why)}</p>\n",
        encoding="utf-8",
    )


def _absolute(
    own: Mapping[str, Any], checkout: Checkout, results: Path, folder: Path
) -> dict[str, Any]:
    """The settings with places that do not depend on where the file lies."""
    return {
        **own,
        "repo": str(checkout.root),
        "results_dir": str(results.resolve()),
        "html_dir": str(folder.resolve()),
        "benchmark_dir": str(asv_conf.locate(checkout.root).folder),
        "env_dir": str(checkout.root / str(own.get("env_dir", "env"))),
    }
