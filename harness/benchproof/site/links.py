"""Where pages lead: a benchmark's permalink, two commits side by side, a commit on its host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchproof.errors import BenchproofError

from .pack import SHORT

if TYPE_CHECKING:
    from benchproof.checkout import Checkout

#: Hosts that show a commit below the address of its repository, and how.
HOSTS = {
    "github.com": "commit", "gitlab.com": "-/commit", "codeberg.org": "commit",
    "bitbucket.org": "commits",
}  # fmt: skip
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/]*@)?|git@|ssh://git@)(?P<host>[^:/]+)[:/](?P<path>.+?)(?:\.git)?/?$"
)


def benchmark(name: str, **choice: str | None) -> str:
    """The permalink of a benchmark's page; what is not chosen, the page chooses.

    Args:
        name: The benchmark.
        choice: Of ``meter``, ``impl``, ``machine``, ``at``, ``from``, ``to``.
    """
    chosen = {key: value for key, value in choice.items() if value}
    return "benchmark.html#" + urlencode({"name": name} | chosen)


def comparison(left: str, right: str) -> str:
    """The page that compares two commits."""
    return "compare.html#" + urlencode({"left": left[:SHORT], "right": right[:SHORT]})


def of_commits(checkout: Checkout, configured: str = "") -> str:
    """The beginning of the address at which the host shows a commit; empty if none is known.

    Args:
        checkout: Its remote ``origin`` is asked, and believed if it is a host known to be public.
        configured: ``show_commit_url`` of asv's settings, which counts first.
    """
    if configured:
        return configured
    try:
        remote = checkout.ask("config", "--get", "remote.origin.url")
    except BenchproofError:
        return ""
    return of_remote(remote)


def of_remote(remote: str) -> str:
    """The same for the address of a remote."""
    match = _REMOTE.match(remote)
    if match is None or match["host"] not in HOSTS:
        return ""
    return f"https://{match['host']}/{match['path']}/{HOSTS[match['host']]}/"
