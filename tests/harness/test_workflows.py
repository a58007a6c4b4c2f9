"""The workflows: what each may do. A pull request's code never meets a token that writes."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchproof.gate.report import comment

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
GUIDES = [ROOT / "docs" / name for name in ("pull-requests.md", "fleet.md")]
#: What each job of this repository may write; nothing, unless it is here.
WRITES = {
    ("bench-report.yml", "tell"): {"pull-requests", "statuses"},
    ("pages.yml", "deploy"): {"pages", "id-token"},
}
#: Things that a workflow puts into a command's text only through the environment.
STRANGERS = re.compile(r"github\.(event|head_ref|ref_name)|inputs\.|steps\.")
#: Where `make lint` keeps them, or any other.
ACTIONLINT, ZIZMOR = (
    shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for name in ("actionlint", "zizmor")
)


def copyable():
    """The workflows in the guides, by the names that those give them."""
    text = "\n".join(guide.read_text(encoding="utf-8") for guide in GUIDES)
    found = re.findall(
        r"^`\.github/workflows/(\S+)`:\n\n```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    return {f"guide/{name}": body for name, body in found}


def everything():
    return {file.name: file.read_text(encoding="utf-8") for file in sorted(FOLDER.glob("*.yml"))}


TEXTS = everything() | copyable()
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
JOBS = [
    pytest.param(name, job, body, id=f"{name}:{job}")
    for name, workflow in WORKFLOWS.items()
    for job, body in workflow["jobs"].items()
]


def triggers(name):
    # YAML 1.1 reads the key "on" as true.
    found = WORKFLOWS[name][True]
    return {found} if isinstance(found, str) else set(found)


def permissions(name, job):
    """What a job's token may do: its own list, or the workflow's."""
    found = WORKFLOWS[name]["jobs"][job].get("permissions", WORKFLOWS[name].get("permissions"))
    assert isinstance(found, dict), "a token without a list of permissions may do too much"
    return found


def steps(name, job):
    return WORKFLOWS[name]["jobs"][job]["steps"]


def uses(name, action):
    return [
        step for body in WORKFLOWS[name]["jobs"].values() for step in body["steps"]
        if step.get("uses", "").startswith(action)
    ]  # fmt: skip


def test_the_guides_have_five_workflows_one_of_which_is_short():
    names = ["bench-report", "bench", "gate", "pages", "shards"]
    assert sorted(copyable()) == [f"guide/{name}.yml" for name in names]
    assert len(copyable()["guide/gate.yml"].splitlines()) < 40


@pytest.mark.parametrize(("name", "job", "body"), JOBS)
def test_a_job_may_write_only_what_it_is_for(name, job, body):
    allowed = WRITES.get((name.removeprefix("guide/"), job), set())
    writes = {what for what, level in permissions(name, job).items() if level == "write"}
    assert writes == allowed
    assert body["timeout-minutes"] <= 60


@pytest.mark.parametrize(("name", "job", "body"), JOBS)
def test_no_text_of_strangers_is_pasted_into_a_command(name, job, body):
    del name, job
    for step in body["steps"]:
        pasted = re.findall(r"\$\{\{(.*?)\}\}", step.get("run", ""))
        assert not [each for each in pasted if STRANGERS.search(each)]


@pytest.mark.parametrize(("name", "job", "body"), JOBS)
def test_only_github_s_own_actions_run_and_of_a_stated_commit(name, job, body):
    del job
    for step in filter(None, (step.get("uses") for step in body["steps"])):
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step)
        assert re.search(rf"uses: {step} # v\d+\.\d+\.\d+$", TEXTS[name], re.MULTILINE)


def test_one_version_of_an_action_has_one_commit():
    pairs = set(re.findall(r"uses: (\S+)@(\S+) # (\S+)", "\n".join(TEXTS.values())))
    assert len(pairs) == len({action for action, _, _ in pairs})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_code_of_a_pull_request_never_meets_a_token_that_writes(name):
    """The split: where a token can write, the event's default checkout is of the default branch."""
    assert "pull_request_target" not in triggers(name)
    runs_their_code = bool({"pull_request", "issue_comment"} & triggers(name))
    writes = any("write" in permissions(name, job).values() for job in WORKFLOWS[name]["jobs"])
    assert not (runs_their_code and writes)
    if writes:
        for step in uses(name, "actions/checkout"):
            assert "ref" not in step.get("with", {})
            assert "repository" not in step.get("with", {})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_secret_is_used_but_the_job_s_own_token(name):
    assert "secrets." not in TEXTS[name]
    assert "secrets:" not in TEXTS[name]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_nothing_is_restored_from_a_cache(name):
    """A run that a comment starts shares its caches with the default branch."""
    assert not uses(name, "actions/cache")
    assert not [step for step in uses(name, "actions/setup") if "cache" in step.get("with", {})]
    for step in uses(name, "actions/checkout"):
        assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("prefix", ["", "guide/"])
def test_the_token_is_gone_before_the_pull_request_s_code_runs(prefix):
    (before, *after) = steps(f"{prefix}bench.yml", "measure")
    assert "GH_TOKEN" in before["env"]
    assert "uses" not in before
    for step in after:
        assert "github.token" not in str(step)


@pytest.mark.parametrize("prefix", ["", "guide/"])
def test_what_the_pull_request_left_is_unpacked_outside_of_the_checkout(prefix):
    (step,) = uses(f"{prefix}bench-report.yml", "actions/download-artifact")
    assert step["with"]["path"].startswith("${{ runner.temp }}/")
    assert step["continue-on-error"] is True


@pytest.mark.parametrize("prefix", ["", "guide/"])
def test_the_telling_job_follows_the_measuring_one_by_its_name(prefix):
    bench, report = WORKFLOWS[f"{prefix}bench.yml"], WORKFLOWS[f"{prefix}bench-report.yml"]
    assert report[True]["workflow_run"] == {"workflows": [bench["name"]], "types": ["completed"]}
    (upload,) = uses(f"{prefix}bench.yml", "actions/upload-artifact")
    (download,) = uses(f"{prefix}bench-report.yml", "actions/download-artifact")
    assert upload["with"]["name"] == download["with"]["name"]
    assert upload["if"] == "always()"


@pytest.mark.parametrize("prefix", ["", "guide/"])
def test_the_number_in_the_run_s_name_is_found_again(prefix):
    title = re.sub(r"\$\{\{.*?\}\}", "123", WORKFLOWS[f"{prefix}bench.yml"]["run-name"])
    found = comment._NAMED.search(title)
    assert found[1] == "123"


@pytest.mark.parametrize("prefix", ["", "guide/"])
def test_only_members_start_a_gate_by_a_comment_and_only_with_the_words(prefix):
    condition = " ".join(WORKFLOWS[f"{prefix}bench.yml"]["jobs"]["measure"]["if"].split())
    by_label, by_comment = condition.split(" || github.event_name == 'issue_comment' && ")
    assert "labels.*.name, 'benchmark me'" in by_label
    assert "startsWith(github.event.comment.body, 'benchmark me')" in by_comment
    assert '["OWNER", "MEMBER", "COLLABORATOR"]' in by_comment
    assert "github.event.issue.pull_request" in by_comment


def test_the_commands_in_the_workflows_exist():
    """Each `benchproof` command, with its options, is known to the command line."""
    import typer

    from benchproof.commands import app as cli

    commands = typer.main.get_command(cli.app).commands
    asked = re.findall(
        r"benchproof (gate|publish|doctor|compare|merge)\b(.*)",
        "\n".join(map(_flat, TEXTS.values())),
    )
    assert {name for name, _ in asked} == {"gate", "publish", "doctor", "compare", "merge"}
    for name, rest in asked:
        known = {option for each in commands[name].params for option in each.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known


def _flat(text):
    """A workflow's text with its folded commands on one line each."""
    workflow = yaml.safe_load(text)
    return "\n".join(
        step.get("run", "") for job in workflow["jobs"].values() for step in job["steps"]
    )


def test_both_sides_are_told_to_the_gate_from_the_branch_s_beginning(tmp_path):
    """The shell of the measuring step, run: the merge base is the base, not the branch's tip."""
    (step,) = [s for s in steps("bench.yml", "measure") if s.get("name") == "benchproof gate"]

    def git(*arguments):
        who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid"]
        return subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "--quiet", "--initial-branch=main")
    git("commit", "--quiet", "--allow-empty", "--message", "begin")
    start = git("rev-parse", "HEAD")
    git("commit", "--quiet", "--allow-empty", "--message", "later on main")
    tip = git("rev-parse", "HEAD")
    git("checkout", "--quiet", "--detach", start)
    git("commit", "--quiet", "--allow-empty", "--message", "change")
    head = git("rev-parse", "HEAD")
    benchproof = tmp_path / ".venv" / "bin" / "benchproof"
    benchproof.parent.mkdir(parents=True)
    benchproof.write_text('#!/bin/sh\necho "$@"\n')
    benchproof.chmod(0o755)
    answer = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, check=True, capture_output=True, text=True,
        env=os.environ | {"BASE": tip, "HEAD": head},
    )  # fmt: skip
    assert answer.stdout.split()[:3] == ["gate", start, head]


SHA, TIME = "{:040x}".format, "2026-11-23T15:00:{:02}Z".format


@pytest.mark.parametrize("prefix", ["", "guide/"])
@pytest.mark.parametrize(("pushed", "allowed"), [(TIME(9), True), (TIME(10), False),
                                                 (TIME(11), False), ("never", False)])  # fmt: skip
def test_a_comment_measures_what_its_writer_saw(tmp_path, prefix, pushed, allowed):
    (step, *_) = steps(f"{prefix}bench.yml", "measure")
    gh = tmp_path / "gh"
    gh.write_text(f"#!/bin/sh\n[ $2 = repos/a/b/pulls/7 ] && echo {SHA(1)} {SHA(2)} {pushed}\n")
    gh.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(tmp_path / "out"),
           "GITHUB_REPOSITORY": "a/b", "NUMBER": "7", "BASE": "", "HEAD": "",
           "ASKED": TIME(10)}  # fmt: skip
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], check=False, env=env, capture_output=True, text=True
    )
    assert (done.returncode == 0) is allowed
    if allowed:
        assert (tmp_path / "out").read_text() == f"base={SHA(1)}\nhead={SHA(2)}\n"
    else:
        assert "ask again" in done.stdout


@pytest.mark.skipif(ZIZMOR is None, reason="zizmor is not installed")
def test_the_guide_s_workflows_pass_zizmor(tmp_path):
    """`make lint` checks those of this repository."""
    for name, text in copyable().items():
        (tmp_path / Path(name).name).write_text(text, encoding="utf-8")
    answer = subprocess.run(
        [ZIZMOR, "--offline", "--no-progress", *sorted(tmp_path.iterdir())],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout


@pytest.mark.skipif(ACTIONLINT is None, reason="actionlint is not installed")
def test_the_guide_s_workflows_pass_actionlint(tmp_path):
    """`make lint` checks those of this repository."""
    files = []
    for name, text in copyable().items():
        file = tmp_path / ".github" / "workflows" / Path(name).name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files.append(str(file))
    answer = subprocess.run(
        [ACTIONLINT, *files], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout) == (0, "")


def lint(tmp_path, programs, **environment):
    """`scripts/actionlint` where only some programs can be found."""
    here, there = tmp_path / "venv", tmp_path / "path"
    here.mkdir()
    there.mkdir()
    for name in ("sh", "cat", "head", "grep"):
        (there / name).symlink_to(shutil.which(name))
    for name, text in programs.items():
        file = (here if name == "python" else there) / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    return subprocess.run(
        ["sh", ROOT / "scripts" / "actionlint", here, "ci.yml"], cwd=tmp_path, check=False,
        env={"PATH": str(there)} | environment, capture_output=True, text=True,
    )  # fmt: skip


def test_an_actionlint_on_the_path_is_used(tmp_path):
    answer = lint(tmp_path, {"actionlint": 'echo "checked $1"; [ "$1" = -version ] || exit 3'})
    assert (answer.returncode, answer.stdout) == (3, "checked ci.yml\n")


def test_a_missing_actionlint_is_fetched_with_go(tmp_path):
    tool = "echo '#!/bin/sh' > \"$GOBIN/actionlint\"; echo 'echo fetched' >> \"$GOBIN/actionlint\""
    go = tool + '; echo "$@" > asked; /bin/chmod +x "$GOBIN/actionlint"'
    answer = lint(tmp_path, {"go": go, "python": "exit 1"})
    assert answer.stdout.endswith("fetched\n")
    assert re.fullmatch(
        r"install github.com/rhysd/actionlint/cmd/actionlint@v[\d.]+\n",
        (tmp_path / "asked").read_text(),
    )


@pytest.mark.parametrize(("wish", "status"), [({}, 0), ({"ACTIONLINT": "required"}, 1)])
def test_an_actionlint_that_cannot_be_fetched_is_said(tmp_path, wish, status):
    answer = lint(tmp_path, {"go": "exit 1", "python": "exit 1"}, **wish)
    assert answer.returncode == status
    assert "the workflows are not checked" in answer.stdout
    assert answer.stderr == ""
