"""The few calls to GitHub's REST interface that telling a gate needs."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof.errors import BenchproofError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds that a call may take.
PATIENCE = 30
#: As many as GitHub gives at once, and pages that are worth reading.
PAGE, PAGES = 100, 30
_NEXT = re.compile(r'<([^>]+)>;\s*rel="next"')


class GitHubError(BenchproofError):
    """GitHub refused, or did not answer."""


@dataclass(frozen=True)
class Repository:
    """A repository, as its token may see and change it.

    Attributes:
        name: ``owner/name``.
        token: of the job; sent nowhere but to `url`.
        url: of the interface.
    """

    name: str
    token: str
    url: str = "https://api.github.com"

    def pull_requests(self, owner: str, branch: str) -> list[dict[str, Any]]:
        """The open pull requests from a branch, which may be a fork's."""
        query = urllib.parse.urlencode({"state": "open", "head": f"{owner}:{branch}"})
        return list(self._pages(f"pulls?{query}"))

    def pull_request(self, number: int) -> dict[str, Any]:
        """A pull request."""
        found = self._call("GET", f"pulls/{number}")[0]
        return found if isinstance(found, dict) else {}

    def comments(self, number: int) -> Iterator[dict[str, Any]]:
        """The comments on a pull request, oldest first."""
        return self._pages(f"issues/{number}/comments")

    def create_comment(self, number: int, text: str) -> None:
        """Say something on a pull request."""
        self._call("POST", f"issues/{number}/comments", {"body": text})

    def change_comment(self, comment: int, text: str) -> None:
        """Replace a comment's text."""
        self._call("PATCH", f"issues/comments/{comment}", {"body": text})

    def remove_comment(self, comment: int) -> None:
        """Remove a comment."""
        self._call("DELETE", f"issues/comments/{comment}")

    def set_status(self, commit: str, status: dict[str, str]) -> None:
        """Set a status of a commit: what a pull request shows as a check."""
        self._call("POST", f"statuses/{commit}", status)

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        """All entries of a list."""
        joint = "&" if "?" in path else "?"
        following: str | None = f"{path}{joint}per_page={PAGE}"
        for _ in range(PAGES):
            found, following = self._call("GET", following or "")
            yield from found if isinstance(found, list) else ()
            if following is None:
                return

    def _call(self, method: str, path: str, body: object = None) -> tuple[Any, str | None]:
        """One request; its answer, and the path of the next page."""
        base = f"{self.url.rstrip('/')}/repos/{self.name}/"
        request = urllib.request.Request(  # noqa: S310  (the address is the job's own)
            base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
                "Content-Type": "application/json",
                "User-Agent": "benchproof",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  (as above)
                text = answer.read()
                following = _NEXT.search(answer.headers.get("Link") or "")
        except urllib.error.HTTPError as error:
            with error:
                why = error.read(300).decode(errors="replace")
            raise GitHubError(
                f"GitHub refuses to {method} {path} ({error.code}): {' '.join(why.split())}"
            ) from error
        except OSError as error:
            raise GitHubError(f"GitHub does not answer to {method} {path}: {error}") from error
        # A next page elsewhere would get the token.
        after = following[1] if following and following[1].startswith(base) else None
        return json.loads(text) if text else None, after and after.removeprefix(base)
