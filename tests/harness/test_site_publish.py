"""Publishing as a whole: interrupted, repeated, beside other pages, with broken files."""

import json

import pytest

from benchproof.errors import SelectionError, SiteError
from benchproof.history import asv_files
from benchproof.render.page import write_page
from benchproof.site import pages, publication
from benchproof.site.publication import Asked, publish
from tests.harness.sample_comparison import make_comparison
from tests.harness.sample_history import make_history
from tests.harness.sample_site import QUIET, give_history, make_checkout, make_site


def content(folder):
    return {path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}  # fmt: skip


@pytest.mark.parametrize("moment", ["read", "data", "pages"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_publish_leaves_the_site_as_it_was(tmp_path, monkeypatch, moment, error):
    page = make_site(tmp_path, monkeypatch).page
    before = content(page.parent)

    def stop(*_, **__):
        raise error

    if moment == "pages":
        monkeypatch.setattr(pages, "write", stop)
    elif moment == "data":
        from benchproof.site import pack

        monkeypatch.setattr(pack, "put_blocks", stop)
    checkout = make_checkout(tmp_path / "checkout")
    asked = Asked(checkout.root / "reports", page.parent, asv=False)
    give_history(monkeypatch, make_history(50))
    if moment == "read":
        monkeypatch.setattr(asv_files, "load", stop)
    with pytest.raises(error):
        publish(asked, checkout, tmp_path / "cache", QUIET)
    assert content(page.parent) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cache", "checkout", "out"]


def test_pages_of_other_commands_are_kept_and_the_newest_run_is_told(tmp_path, monkeypatch):
    comparison = make_comparison("commits")
    out = tmp_path / "out"
    write_page([comparison], out)
    latest = make_checkout(tmp_path / "checkout").root / "reports" / "latest"
    latest.mkdir(parents=True)
    (latest / "commits.json").write_text(json.dumps(comparison), encoding="utf-8")
    make_site(tmp_path, monkeypatch)
    assert (out / "run.html").exists()
    assert (out / "pictures").is_dir()
    overview = (out / "index.html").read_text(encoding="utf-8")
    assert 'href="run.html"' in overview
    assert "Newest run" in overview


def test_results_of_a_run_that_are_broken_are_named(tmp_path, monkeypatch):
    latest = make_checkout(tmp_path / "checkout").root / "reports" / "latest"
    latest.mkdir(parents=True)
    (latest / "commits.json").write_text('{"kind": "comparison", "cas', encoding="utf-8")
    done = make_site(tmp_path, monkeypatch)
    text = (done.page.parent / "left-out.html").read_text(encoding="utf-8")
    assert "latest/commits.json" in text


@pytest.mark.parametrize("depth", [400, 100_000], ids=["a little", "far"])
def test_results_that_are_nested_too_deeply_are_named(tmp_path, monkeypatch, depth):
    reports = make_checkout(tmp_path / "checkout").root / "reports"
    deep = "[" * depth + "]" * depth
    places = ("latest/commits.json", "gate/deep.json", "claims.json",
              "calibration/summary.json")  # fmt: skip
    for name in places:
        (reports / name).parent.mkdir(parents=True, exist_ok=True)
        kind = {"latest": "comparison", "gate": "gate"}.get(name.split("/", 1)[0], "claims")
        text = f'{{"kind": "{kind}", "schema": 1, "cases": [], "runs": [], "proof": {deep}}}'
        (reports / name).write_text(text, encoding="utf-8")
    done = make_site(tmp_path, monkeypatch)
    told = (done.page.parent / "left-out.html").read_text(encoding="utf-8")
    assert ("latest/commits.json" in told) == (depth > 1000)
    assert "gate/deep.json" in told


@pytest.mark.parametrize(
    "bad",
    [b"", b"[1, 2", b"[]", b"[" * 100_000 + b"]" * 100_000, b'{"schema": 1, "pages": [{}]}',
     b'{"schema": 1, "pages": [{"rows": [{"verdict": "luck"}]}]}', b'{"schema": 3}'],
    ids=["empty", "cut off", "a list", "too deep", "no rows", "no verdict", "newer"],
)  # fmt: skip
def test_judged_claims_that_are_broken_are_named_and_the_rest_is_shown(tmp_path, monkeypatch, bad):
    reports = make_checkout(tmp_path / "checkout").root / "reports"
    reports.mkdir()
    (reports / "claims.json").write_bytes(bad)
    done = make_site(tmp_path, monkeypatch)
    assert "claims.json" in (done.page.parent / "left-out.html").read_text("utf-8")
    page = (done.page.parent / "ledger.html").read_text(encoding="utf-8")
    assert "claims.json could not be read" in page


def test_judged_claims_are_on_their_page_and_on_the_overview(tmp_path, monkeypatch):
    from ledger import judge, page, reader

    from tests.harness.sample_ledger import LEDGER, run

    reports = make_checkout(tmp_path / "checkout").root / "reports"
    reports.mkdir()
    found = judge.judge(reader.parse(LEDGER), [run(ratio=0.9)], ["7-1", "7-2"], {})
    (reports / "claims.json").write_text(page.text(found), encoding="utf-8")
    folder = make_site(tmp_path, monkeypatch).page.parent
    text = (folder / "ledger.html").read_text(encoding="utf-8")
    assert "spin faster" in text
    assert "example 7: &lt;spin&gt; &amp; friends" in text
    assert "&lt; smaller than claimed" in text
    assert [text.count(f'id="row-{row}"') for row in ("7-1", "7-2")] == [1, 1]
    assert "1 of 4 reproduced or exceeded" in (folder / "index.html").read_text(encoding="utf-8")


def test_a_comparison_with_others_has_a_page(tmp_path, monkeypatch):
    reports = make_checkout(tmp_path / "checkout").root / "reports"
    reports.mkdir()
    cells = [{"text": "<bind>", "best": False}, {"text": "7 µs", "best": True}]
    board = {
        "schema": 1, "title": "Beside others", "paragraphs": ["One & all."], "notes": ["No lz4."],
        "picture": "<svg xmlns='http://www.w3.org/2000/svg'/>", "about_picture": "Marks",
        "tables": [{"title": "Cheapest", "columns": ["case", "peer"], "rows": [cells]}],
    }  # fmt: skip
    (reports / "leaderboard.json").write_text(json.dumps(board), encoding="utf-8")
    text = make_site(tmp_path, monkeypatch).page.with_name("leaderboard.html").read_text("utf-8")
    for words in ("One &amp; all.", "&lt;bind&gt;", "<strong>7 µs</strong>", "<li>No lz4.</li>"):
        assert words in text
    assert 'src="data:image/svg+xml;base64,PHN2Zy' in text


@pytest.mark.parametrize("bad", [b"[1, 2", b"[]", b'{"title": "x"}', b'{"schema": 2}'])
def test_a_comparison_that_is_broken_is_named_and_the_rest_is_shown(tmp_path, monkeypatch, bad):
    reports = make_checkout(tmp_path / "checkout").root / "reports"
    reports.mkdir()
    (reports / "leaderboard.json").write_bytes(bad)
    done = make_site(tmp_path, monkeypatch)
    assert "leaderboard.json" in (done.page.parent / "left-out.html").read_text("utf-8")
    page = (done.page.parent / "leaderboard.html").read_text(encoding="utf-8")
    assert "leaderboard.json could not be read" in page


def test_the_newest_gate_is_on_the_overview(tmp_path, monkeypatch):
    gate = make_checkout(tmp_path / "checkout").root / "reports" / "gate"
    gate.mkdir(parents=True)
    for day, status in (("2026-01-01", "no regression"), ("2026-01-02", "regression")):
        document = {
            "kind": "gate", "created": day, "base": {"spec": "main"}, "head": {"spec": "topic"},
            "verdict": {"status": status, "exit": 1, "summary": f"it was {status}"},
        }  # fmt: skip
        (gate / f"{day}.json").write_text(json.dumps(document), encoding="utf-8")
    done = make_site(tmp_path, monkeypatch)
    text = done.page.read_text(encoding="utf-8")
    assert "it was regression" in text
    assert "it was no regression" not in text


def test_a_gate_of_which_nothing_is_right_does_not_stop_the_site(tmp_path, monkeypatch):
    gate = make_checkout(tmp_path / "checkout").root / "reports" / "gate"
    gate.mkdir(parents=True)
    (gate / "strange.json").write_text('{"kind": "gate", "verdict": 7, "base": []}', "utf-8")
    done = make_site(tmp_path, monkeypatch)
    assert "gate/strange.json" in (done.page.parent / "left-out.html").read_text(encoding="utf-8")


def test_reports_that_do_not_exist_are_an_error_in_a_line(tmp_path):
    checkout = make_checkout(tmp_path / "checkout")
    with pytest.raises(SiteError, match="no folder of reports"):
        publish(Asked(tmp_path / "absent", tmp_path / "out"), checkout, tmp_path / "cache", QUIET)


@pytest.mark.parametrize("name", [".git", "thesis.tex"])
def test_a_folder_of_other_things_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("precious", encoding="utf-8")
    with pytest.raises(SiteError, match="holds other things"):
        make_site(tmp_path, monkeypatch)
    assert (tmp_path / "out" / name).read_text(encoding="utf-8") == "precious"


def test_pictures_of_chosen_benchmarks_are_drawn_and_named_on_their_page(tmp_path, monkeypatch):
    done = make_site(tmp_path, monkeypatch, pictures="bind")
    folder = done.page.parent / "site" / "pictures"
    assert sorted(path.name for path in folder.iterdir()) == [
        "bind-time-one-row-dark.svg", "bind-time-one-row.png", "bind-time-one-row.svg",
    ]  # fmt: skip
    heads = [
        path.read_text("utf-8") for path in (done.page.parent / "site" / "data").glob("*head*")
    ]
    assert sum('"picture":"bind-time-one-row"' in head for head in heads) == 2


def test_an_expression_that_matches_nothing_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(SelectionError, match="matches no benchmark"):
        make_site(tmp_path, monkeypatch, pictures="absent")
    with pytest.raises(SelectionError, match="no regular expression"):
        make_site(tmp_path, monkeypatch, pictures="(")


def test_where_asv_fails_its_old_site_is_kept_and_the_reason_is_said(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise SiteError("asv publish failed: no reason")

    monkeypatch.setattr(publication, "publish_asv", fail)
    done = make_site(tmp_path, monkeypatch, asv=True)
    page = done.page.parent / "asv" / "index.html"
    assert "no reason" in page.read_text(encoding="utf-8")
    assert any("no reason" in line for line in done.said)
    page.write_text("an old site", encoding="utf-8")
    make_site(tmp_path, monkeypatch, asv=True)
    assert page.read_text(encoding="utf-8") == "an old site"


def test_what_was_done_is_told_with_the_page_last(tmp_path, monkeypatch):
    done = make_site(tmp_path, monkeypatch)
    assert done.lines()[-1] == str(tmp_path / "out" / "index.html")
    assert done.told()["series"] == 12
    json.dumps(done.told())
