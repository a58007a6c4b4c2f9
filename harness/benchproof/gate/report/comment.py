"""Tells a pull request what its gate said: one comment that is updated, and a check.

Run by a job with a token, after the job that measured:

    python -m benchproof.gate.report.comment --event "$GITHUB_EVENT_PATH" --document gate.json

The measuring job ran the pull request's own code, so nothing that it left is trusted. From its
document only words and numbers are taken, each made harmless; the Markdown is written here. Which
pull request it is comes from GitHub's own event, never from the document, and a status is set only
on a commit that is the pull request's head.
"""

import argparse
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchproof import files, renamed
from benchproof.errors import COULD_NOT_MEASURE, BenchproofError, NewerError, told

from . import markdown, words

#: Seconds that a call may take.
PATIENCE = 30
#: As many as GitHub gives at once, and pages that are worth reading.
PAGE, PAGES = 100, 30
#: The name of the check.
CONTEXT = "benchproof gate"
#: What a status is, by the gate's exit status.
STATES = {0: "success", 1: "failure", 2: "error", 3: "failure"}
#: The schemas that can be told.
READ = (1, 2, 3, 4)
#: The largest document that is read: a whole gate has about a megabyte.
LARGEST = 32 * 2**20
#: The longest description of a status that GitHub takes.
DESCRIPTION = 140
#: How the workflow names its runs (`run-name`), so that one asked for by a comment can be placed.
_NAMED = re.compile(r"\(#(\d+)\)$")
#: What a document that is no gate's raises where it is told.
_MISSHAPEN = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError)


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

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """All entries of a list, at a path below the repository's.

        Whether there are more says the header `Link`, for a page in the middle may be short. Its
        address is not followed, so that the token goes nowhere else.
        """
        joint = "&" if "?" in path else "?"
        for number in range(1, PAGES + 1):
            found, link = self._ask("GET", f"{path}{joint}per_page={PAGE}&page={number}")
            yield from found
            if 'rel="next"' not in link:
                return

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401  (as JSON has it)
        """One request, at a path below the repository's; its answer."""
        return self._ask(method, path, body)[0]

    def _ask(self, method: str, path: str, body: object = None) -> tuple[Any, str]:
        """The same, with the header `Link`."""
        request = urllib.request.Request(  # noqa: S310  (the address is the job's own)
            f"{self.url.rstrip('/')}/repos/{self.name}/{path}",
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
                text, link = answer.read(), answer.headers.get("Link", "")
        except urllib.error.HTTPError as error:
            with error:
                why = error.read(300).decode(errors="replace")
            raise GitHubError(
                f"GitHub refuses to {method} {path} ({error.code}): {' '.join(why.split())}"
            ) from error
        except OSError as error:
            raise GitHubError(f"GitHub does not answer to {method} {path}: {error}") from error
        return json.loads(text) if text else None, link


class NoDocumentError(BenchproofError):
    """The run left no document, or none that can be told."""


@dataclass(frozen=True)
class Run:
    """The run that measured, as GitHub describes it to the job that tells.

    Attributes:
        event: what started it.
        title: its `run-name`.
        commit: the head of the branch that it ran on.
        owner: of the repository of that branch, which may be a fork.
        branch: its name.
        url: its page.
    """

    event: str
    title: str
    commit: str
    owner: str
    branch: str
    url: str

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> "Run":
        """Of a ``workflow_run`` event.

        Raises:
            BenchproofError: it is another one.
        """
        try:
            run = event["workflow_run"]
            owner = ((run.get("head_repository") or {}).get("owner") or {}).get("login") or ""
            return cls(
                run["event"], run.get("display_title") or "", run["head_sha"], owner,
                run.get("head_branch") or "", run.get("html_url") or "",
            )  # fmt: skip
        except (KeyError, TypeError, AttributeError) as error:
            raise BenchproofError(f"this is no workflow_run event: {error} is missing") from error


def find(repository: Repository, run: Run) -> dict[str, Any] | None:
    """The open pull request that a run measured, or None.

    A run that a comment started ran the default branch's workflow, whose title can be trusted; it
    names the pull request. Any other run's title may be the pull request's own invention: there
    branch and commit decide.
    """
    if run.event == "issue_comment":
        named = _NAMED.search(run.title)
        found = repository.call("GET", f"pulls/{named[1]}") if named else None
        return found if isinstance(found, dict) and found.get("state") == "open" else None
    if not run.owner or not run.branch:
        return None
    asked = urllib.parse.urlencode({"state": "open", "head": f"{run.owner}:{run.branch}"})
    for found in repository.pages(f"pulls?{asked}"):
        if found["head"]["sha"] == run.commit:
            return found
    return None


def read(file: Path) -> tuple[words.Document, str]:
    """A gate's document and its Markdown.

    Raises:
        NoDocumentError: there is none, or none that can be told.
    """
    try:
        if file.stat().st_size > LARGEST:
            raise NoDocumentError("the document is too large to be a gate's")
        document = json.loads(file.read_text(encoding="utf-8"))
        if words.is_gate(document):
            files.refuse_newer(document, max(READ), "the document")
        if not words.is_gate(document) or document["schema"] not in READ:
            raise NoDocumentError("the document is not a gate's")
        return document, markdown.render(document)
    except NewerError as error:
        raise NoDocumentError(str(error)) from error
    except FileNotFoundError as error:
        raise NoDocumentError("the run ended without a result") from error
    except RecursionError as error:
        raise NoDocumentError("the document is nested too deeply to be a gate's") from error
    except _MISSHAPEN as error:
        raise NoDocumentError(f"the document cannot be read: {type(error).__name__}") from error


def say(repository: Repository, number: int, text: str) -> str:
    """Put a text where the last one was, or say it for the first time; what was done."""
    mine = [
        comment["id"] for comment in repository.pages(f"issues/{number}/comments")
        if (comment.get("user") or {}).get("type") == "Bot"
        and (comment.get("body") or "").startswith((markdown.MARK, renamed.OLD_MARK))
    ]  # fmt: skip
    if not mine:
        repository.call("POST", f"issues/{number}/comments", {"body": text})
        return "commented"
    repository.call("PATCH", f"issues/comments/{mine[0]}", {"body": text})
    # Two runs that ended at the same moment may both have found none.
    for repeated in mine[1:]:
        repository.call("DELETE", f"issues/comments/{repeated}")
    return "updated the comment"


def tell(repository: Repository, run: Run, file: Path) -> str:
    """Comment and set the status; what was done.

    Raises:
        BenchproofError: GitHub refused.
    """
    pull = find(repository, run)
    if pull is None:
        return "no open pull request has this commit: nothing to tell"
    number, head = int(pull["number"]), str(pull["head"]["sha"])
    measured: str | None = None
    try:
        document, text = read(file)
        measured = words.side_of(document, "head").get("commit")
        exit_status, summary = int(document["verdict"]["exit"]), document["verdict"]["summary"]
    except NoDocumentError as error:
        exit_status, summary = 2, str(error)
        text = "\n".join((markdown.MARK, f"## {words.LIGHTS[2]} benchproof: {words.STATUS[2]}", "",
                          f"**{markdown.prose(summary)}**", ""))  # fmt: skip
        # Who asked by a comment asked for the head of that moment; nothing says which it was.
        measured = head if run.event == "issue_comment" else run.commit
    if measured != head:
        text += "\nThe pull request has moved on since: this is not of its newest commit.\n"
    text += f"\n[The run]({_link(run.url)}) has everything as JSON and JUnit XML.\n"
    done = say(repository, number, text)
    if measured != head:
        return f"{done} on #{number}; no status, because its head is another commit now"
    repository.call("POST", f"statuses/{head}", {
        "state": STATES[exit_status], "context": CONTEXT, "target_url": _link(run.url),
        "description": markdown.plain(f"{words.STATUS[exit_status]}: {summary}", DESCRIPTION),
    })  # fmt: skip
    return f"{done} on #{number}, status {STATES[exit_status]}"


def _link(url: str) -> str:
    """An address that GitHub gave, if it is a plain one."""
    return url if re.fullmatch(r"https?://[\w.:/-]+", url) else "about:blank"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchproof.gate.report.comment",
        description="Tell a pull request what its gate said. The token is in GITHUB_TOKEN.",
    )
    parser.add_argument("--event", type=Path, required=True, help="of workflow_run, as JSON")
    parser.add_argument("--document", type=Path, required=True, help="that `benchproof gate` wrote")
    parser.add_argument("--repository", default=os.environ.get("GITHUB_REPOSITORY", ""))
    parser.add_argument(
        "--api", default=os.environ.get("GITHUB_API_URL") or Repository.url, help="its address"
    )
    asked = parser.parse_args(arguments)
    try:
        token = os.environ.get("GITHUB_TOKEN", "")
        if not token or not asked.repository:
            raise BenchproofError("GITHUB_TOKEN and GITHUB_REPOSITORY have to be set")  # noqa: TRY301  (told as the rest)
        run = Run.read(json.loads(asked.event.read_text(encoding="utf-8")))
        done = tell(Repository(asked.repository, token, asked.api), run, asked.document)
    except (OSError, json.JSONDecodeError, BenchproofError) as error:
        wrong = told(error) if isinstance(error, OSError) else error
        if isinstance(error, json.JSONDecodeError):
            wrong = BenchproofError(f"{asked.event} is no JSON: {error}")
        sys.stderr.write(f"benchproof: {wrong}\n")
        return COULD_NOT_MEASURE
    sys.stdout.write(f"benchproof: {done}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
