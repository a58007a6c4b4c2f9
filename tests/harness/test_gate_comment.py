"""Telling a pull request, against a server on loopback that behaves as GitHub's does."""

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchproof.errors import BenchproofError
from benchproof.gate.report import comment, markdown
from benchproof.gate.report.comment import GitHubError, Repository
from tests.harness.sample_gate import BASE, HEAD, make_gate

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-the-job"  # noqa: S105  (made up)
FORK = {"owner": {"login": "somebody"}}


class GitHub(ThreadingHTTPServer):
    """The part of GitHub that is asked, in memory."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        seven = {"number": 7, "state": "open", "head": {"sha": HEAD}, "label": "somebody:faster"}
        self.pulls = [seven]
        self.comments = []
        self.statuses = []
        self.asked = []
        self.refuses = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def comment(self, body, kind="Bot"):
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"type": kind}})


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    def answer(self, code, body=None, **headers):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_it(self):
        hub, address = self.server, urlsplit(self.path)
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        hub.asked.append((self.command, address.path))
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"message": "Bad credentials"})
        elif hub.refuses:
            self.answer(hub.refuses, {"message": "Resource not accessible by integration"})
        else:
            path = f"{self.command} {address.path}"
            found = [(way, m) for way, of in ROUTES if (m := re.fullmatch(of, path))]
            if not found:
                self.answer(404, {"message": "Not Found"})
            for way, match in found:
                way(self, *match.groups(), parse_qs(address.query), body)

    def list_pulls(self, query, _):
        wanted = query["head"][0]
        self.answer(200, [pull for pull in self.server.pulls if pull["label"] == wanted])

    def one_pull(self, number, *_):
        found = [pull for pull in self.server.pulls if pull["number"] == int(number)]
        self.answer(200 if found else 404, found[0] if found else {"message": "Not Found"})

    def list_comments(self, query, _):
        page, size = (int(query[key][0]) for key in ("page", "per_page"))
        start = (page - 1) * size
        more = start + size < len(self.server.comments)
        link = {"Link": '<http://elsewhere.invalid>; rel="next"'} if more else {}
        page = self.server.comments[start : start + size]
        self.answer(200, [each for each in page if not each.get("hidden")], **link)

    def create(self, _, body):
        self.server.comment(body["body"])
        self.answer(201, self.server.comments[-1])

    def change(self, number, _, body):
        found = next(each for each in self.server.comments if each["id"] == int(number))
        found["body"] = body["body"]
        self.answer(200, found)

    def remove(self, number, *_):
        left = [each for each in self.server.comments if each["id"] != int(number)]
        self.server.comments = left
        self.answer(204)

    def set_status(self, commit, _, body):
        self.server.statuses.append((commit, body))
        self.answer(201, body)

    do_GET = do_POST = do_PATCH = do_DELETE = handle_it  # noqa: N815  (names of the library)

    def log_message(self, *_):
        """Say nothing."""


ROUTES = [
    (Handler.list_pulls, "GET /repos/o/r/pulls"),
    (Handler.one_pull, r"GET /repos/o/r/pulls/(\d+)"),
    (Handler.list_comments, "GET /repos/o/r/issues/7/comments"),
    (Handler.create, "POST /repos/o/r/issues/7/comments"),
    (Handler.change, r"PATCH /repos/o/r/issues/comments/(\d+)"),
    (Handler.remove, r"DELETE /repos/o/r/issues/comments/(\d+)"),
    (Handler.set_status, r"POST /repos/o/r/statuses/(\w+)"),
]


@pytest.fixture
def hub():
    server = GitHub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def repository(hub):
    return Repository("o/r", TOKEN, hub.url)


def event(**changes):
    run = {
        "event": "pull_request", "display_title": "bench (#7)", "head_sha": HEAD,
        "head_branch": "faster", "head_repository": FORK, "conclusion": "failure",
        "html_url": "https://github.example/o/r/actions/runs/1",
    }  # fmt: skip
    return {"workflow_run": run | changes}


def run(**changes):
    return comment.Run.read(event(**changes))


@pytest.fixture
def gate(tmp_path):
    def write(document):
        file = tmp_path / "gate.json"
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return file

    return write


def test_the_first_gate_comments_and_sets_the_check(repository, hub, gate):
    said = comment.tell(repository, run(), gate(make_gate()))
    assert said == "commented on #7, status failure"
    (only,) = hub.comments
    assert only["body"].startswith(markdown.MARK)
    assert "benchproof: regression" in only["body"]
    assert "https://github.example/o/r/actions/runs/1" in only["body"]
    ((commit, status),) = hub.statuses
    assert commit == HEAD
    assert status["state"] == "failure"
    assert status["context"] == "benchproof gate"
    assert status["description"].startswith("regression: 102 benchmarks")


def test_the_next_gate_updates_the_comment_and_never_repeats_it(repository, hub, gate):
    hub.comment("what a nice change", "User")
    for _ in range(3):
        comment.tell(repository, run(), gate(make_gate()))
    quiet = make_gate({}, unmeasured=False, accepted=False)
    said = comment.tell(repository, run(), gate(quiet))
    assert said == "updated the comment on #7, status success"
    assert [each["body"].startswith(markdown.MARK) for each in hub.comments] == [False, True]
    assert "no regression" in hub.comments[1]["body"]
    assert [status["state"] for _, status in hub.statuses] == [*["failure"] * 3, "success"]


def test_the_comment_is_found_on_a_later_page(repository, hub, gate, monkeypatch):
    monkeypatch.setattr(comment, "PAGE", 2)
    for number in range(5):
        hub.comment(f"talk {number}", "User")
    hub.comment(f"{markdown.MARK}\nold")
    comment.tell(repository, run(), gate(make_gate()))
    assert len(hub.comments) == 6
    assert "benchproof: regression" in hub.comments[-1]["body"]


def test_somebody_s_comment_with_the_mark_is_left_alone(repository, hub, gate):
    hub.comment(f"{markdown.MARK}\nmine", "User")
    comment.tell(repository, run(), gate(make_gate()))
    assert [each["body"].endswith("mine") for each in hub.comments] == [True, False]


def test_of_two_comments_that_were_made_at_once_one_stays(repository, hub, gate):
    hub.comment(f"{markdown.MARK}\none")
    hub.comment(f"{markdown.MARK}\ntwo")
    comment.tell(repository, run(), gate(make_gate()))
    assert [each["id"] for each in hub.comments] == [1]


@pytest.mark.parametrize("document", [None, "", "{", "[]", '"x"', "{}", '{"kind": "gate"}',
                                      '{"kind": "comparison", "schema": 1}'])  # fmt: skip
def test_a_run_without_a_gate_is_told_as_not_measured(repository, hub, gate, tmp_path, document):
    file = tmp_path / "gate.json" if document is None else gate(document)
    assert comment.tell(repository, run(), file) == "commented on #7, status error"
    assert "benchproof: could not measure" in hub.comments[0]["body"]
    ((commit, status),) = hub.statuses
    assert (commit, status["state"]) == (HEAD, "error")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"head_sha": BASE}, "nothing to tell"),
        ({"head_branch": "other"}, "nothing to tell"),
        ({"head_repository": None}, "nothing to tell"),
        ({"head_repository": {"owner": {"login": "another"}}}, "nothing to tell"),
    ],
)
def test_a_commit_that_no_open_pull_request_has_is_told_to_nobody(
    repository, hub, gate, change, said
):
    assert said in comment.tell(repository, run(**change), gate(make_gate()))
    assert not hub.comments
    assert not hub.statuses


def test_a_title_chosen_by_a_pull_request_does_not_choose_where_is_told(repository, hub, gate):
    hub.pulls.append({"number": 8, "state": "open", "head": {"sha": BASE}, "label": "x:y"})
    assert "on #7" in comment.tell(repository, run(display_title="bench (#8)"), gate(make_gate()))


def asked_by_comment(**changes):
    return run(
        event="issue_comment", head_sha=BASE, head_branch="main",
        head_repository={"owner": {"login": "o"}}, **changes,
    )  # fmt: skip


def test_a_run_that_a_comment_started_is_placed_by_its_title(repository, hub, gate):
    said = comment.tell(repository, asked_by_comment(), gate(make_gate()))
    assert said == "commented on #7, status failure"
    assert hub.statuses[0][0] == HEAD


@pytest.mark.parametrize("title", ["", "bench (#)", "bench (#7) and more", "bench"])
def test_a_title_without_a_number_is_told_to_nobody(repository, hub, gate, title):
    said = comment.tell(repository, asked_by_comment(display_title=title), gate(make_gate()))
    assert "nothing to tell" in said
    assert not hub.comments


def test_a_closed_pull_request_is_told_nothing(repository, hub, gate):
    hub.pulls[0]["state"] = "closed"
    assert "nothing to tell" in comment.tell(repository, asked_by_comment(), gate(make_gate()))


def test_a_commit_that_is_not_the_head_gets_no_status(repository, hub, gate):
    hub.pulls[0]["head"]["sha"] = BASE
    said = comment.tell(repository, asked_by_comment(), gate(make_gate()))
    assert "no status" in said
    assert not hub.statuses
    assert "has moved on since" in hub.comments[0]["body"]


def test_a_document_cannot_choose_the_commit_of_a_status(repository, hub, gate):
    document = make_gate()
    document["head"]["commit"] = "f" * 40
    comment.tell(repository, run(), gate(document))
    assert not hub.statuses


def test_what_github_refuses_is_one_line(repository, hub, gate):
    hub.refuses = 403
    with pytest.raises(GitHubError, match=r"refuses to GET pulls\?.*403.*not accessible") as error:
        comment.tell(repository, run(), gate(make_gate()))
    assert "\n" not in str(error.value)
    assert TOKEN not in str(error.value)


def test_nobody_there_is_one_line(gate):
    nowhere = Repository("o/r", TOKEN, "http://127.0.0.1:1")
    with pytest.raises(GitHubError, match="does not answer"):
        comment.tell(nowhere, run(), gate(make_gate()))


def test_a_page_that_is_short_is_not_taken_for_the_last_one(repository, hub, monkeypatch):
    monkeypatch.setattr(comment, "PAGE", 2)
    for text in ("one", "hidden", "two", "three"):
        hub.comment(text)
    hub.comments[1]["hidden"] = True
    found = [each["body"] for each in repository.pages("issues/7/comments")]
    assert found == ["one", "two", "three"]
    # Nor is a page asked for that is not there.
    assert len(hub.asked) == 2


def test_a_next_page_elsewhere_is_not_followed(repository, hub, monkeypatch):
    monkeypatch.setattr(comment, "PAGE", 1)
    hub.comment("one", "User")
    hub.comment("two", "User")
    assert [each["body"] for each in repository.pages("issues/7/comments")] == ["one", "two"]


def test_another_event_is_refused():
    with pytest.raises(BenchproofError, match="no workflow_run"):
        comment.Run.read({"action": "created"})


def test_an_address_that_is_no_plain_link_is_not_shown(repository, hub, gate):
    comment.tell(repository, run(html_url="javascript:alert(1)"), gate(make_gate()))
    assert "javascript" not in hub.comments[0]["body"]


def damaged(document, path, value):
    """The document with something else in one place."""
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return document


def paths(value, before=()):
    """Every place in a document, but for most of its cases."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, inner in items:
        yield (*before, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*before, key))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(sorted(paths(make_gate()), key=str)),
    value=st.sampled_from(
        [None, 0, -1, 1e308, "", "x", [], {}, True, [[1]], {"a": 1}, float("nan")]
    ),
)
def test_a_damaged_document_is_told_or_refused_and_nothing_else(gate, path, value):
    try:
        document, text = comment.read(gate(damaged(make_gate(), path, value)))
    except comment.NoDocumentError:
        return
    assert document["verdict"]["exit"] in {0, 1, 2}
    assert len(text) < 60_000


def test_a_document_that_is_too_large_is_not_read(gate, monkeypatch):
    monkeypatch.setattr(comment, "LARGEST", 100)
    with pytest.raises(comment.NoDocumentError, match="too large"):
        comment.read(gate(make_gate()))


def test_a_document_that_is_nested_deeply_is_not_read(gate):
    with pytest.raises(comment.NoDocumentError):
        comment.read(gate("[" * 200_000))


def command(hub, tmp_path, *more, **environment):
    (tmp_path / "event.json").write_text(json.dumps(event()))
    (tmp_path / "gate.json").write_text(json.dumps(make_gate()))
    env = {k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")}
    return subprocess.run(
        [sys.executable, "-m", "benchproof.gate.report.comment", "--event",
         str(tmp_path / "event.json"), "--document", str(tmp_path / "gate.json"), *more],
        cwd=ROOT, check=False, capture_output=True, text=True,
        env=env | {"GITHUB_REPOSITORY": "o/r", "GITHUB_API_URL": hub.url} | environment,
    )  # fmt: skip


def test_the_command_of_the_workflow_comments(hub, tmp_path):
    answer = command(hub, tmp_path, GITHUB_TOKEN=TOKEN)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == "benchproof: commented on #7, status failure\n"
    assert len(hub.comments) == 1


@pytest.mark.parametrize(
    ("more", "environment", "words"),
    [
        ((), {}, "GITHUB_TOKEN and GITHUB_REPOSITORY have to be set"),
        ((), {"GITHUB_TOKEN": "stolen"}, "GitHub refuses to GET pulls"),
        (("--event", "/nowhere"), {"GITHUB_TOKEN": TOKEN}, "No such file or directory: /nowhere"),
        (("--event", str(ROOT / "LICENSE")), {"GITHUB_TOKEN": TOKEN}, "LICENSE is no JSON"),
    ],
)
def test_what_is_wrong_with_the_command_is_one_line_and_status_2(
    hub, tmp_path, more, environment, words
):
    answer = command(hub, tmp_path, *more, **environment)
    assert answer.returncode == 2
    assert answer.stderr.startswith("benchproof: ")
    assert words in answer.stderr
    assert answer.stderr.count("\n") == 1
