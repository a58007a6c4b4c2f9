"""What a run of the ledger leaves: the table, the report, the files to judge again."""

import io
import json

import pytest
from ledger import judge, markdown, page, picture, reader, store, table, words
from ledger.figures import LedgerError
from rich.console import Console

from benchproof.site import claimed
from tests.harness.sample_ledger import LEDGER, run


def judged(*runs, rows=("7-1", "7-2")):
    return judge.judge(reader.parse(LEDGER), runs, rows, {"7-2": "no commit carries it"})


RUNS = (run("python", taken_back=("c" * 40,)), run("cython", ratio=0.9))


@pytest.mark.parametrize("width", [80, 140])
def test_the_table_fits_and_says_every_verdict_and_why(width):
    out = io.StringIO()
    table.show(judged(*RUNS), Console(file=out, width=width))
    text = " ".join(out.getvalue().split())
    assert max(map(len, out.getvalue().splitlines())) <= width
    assert "bbbbbbbbbb against aaaaaaaaaa, taken back by cccccccccc" in text
    assert "0.500" in text
    assert "0.500 ±2%, instr 0.500" in text or width == 80
    assert "nobody has been there" in text
    assert "no figure: it is about words" in text
    assert "4 published figures of 2 rows: 1 reproduced, 1 smaller than claimed" in text


def test_the_report_sets_claimed_beside_measured_for_every_figure():
    text = markdown.report(judged(*RUNS), {"pr7": "claims/pr7.svg"})
    assert "not the code of the page's authors" in text
    lines = [
        line for line in text.splitlines() if line.startswith(("| 7-1 | spin |", "| 7-1 | spin,"))
    ]
    assert len(lines) == 2
    assert "200 → 100 ns (time) | 0.500 | time 0.500 (0.490 to 0.510), instr 0.500 | " in lines[0]
    assert lines[0].endswith("| < smaller than claimed |")
    assert "2 → 0 (objects, a part) | 2 less | 2 less | 2 less | = reproduced |" in text
    assert "![claimed against measured, example 7: <spin> & friends](claims/pr7.svg)" in text
    assert "- published in the description: CPython 3.14; one call" in text
    assert "a processor" in text
    assert "<https://example.org/pull/7>" in text


def test_the_report_says_what_is_counted_and_what_a_row_costs():
    text = LEDGER.replace('change = "spin faster"', 'change = "spin faster"\ncost = "a start"')
    told = markdown.report(judge.judge(reader.parse(text), RUNS, ["7-1"], {}), {})
    assert "Of the pages' 4 figures that are counted 4 name CPython 3.14" in told
    assert "our own re-implementation" in told
    assert "first written the plain way" in told
    (cost,) = [line for line in told.splitlines() if line.startswith("| 7-1 | its cost |")]
    assert cost.endswith("\N{BLACK UP-POINTING TRIANGLE} a start |")


def test_the_dashboard_s_document_has_only_verdicts_that_it_knows():
    text = LEDGER.replace('no_case = "nobody has been there"', 'ends_of = ["spin-time"]')
    found = page.document(judge.judge(reader.parse(text), [run(ratio=0.25)], ["7-1"], {}))
    lines = {line["case"]: line for line in found["pages"][0]["rows"]}
    assert lines["spin"]["verdict"] == "exceeded"
    assert lines["spin"]["why"] == "3.92 to 4.08x for 2x"
    assert lines["spin in space"]["verdict"] == "judged case by case"
    assert {line["verdict"] for line in lines.values()} <= set(claimed.VERDICTS)
    assert sum(found["tally"].values()) == 3
    signs = {verdict: sign for verdict, (_, sign) in claimed.VERDICTS.items()}
    assert list(words.SIGNS.items()) == list(signs.items())[: len(words.SIGNS)]


def test_what_was_exceeded_is_told_though_nothing_is_left():
    assert words._times(0.05, 0.0526) == "19 to 20x"
    assert words._times(0.0, 0.5) == "2x and more"
    assert words._times(0.0, 0.0) == "none left"


def test_the_report_s_picture_lies_beside_it_and_no_older_one(tmp_path):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "stale.png").write_text("")
    drawn = picture.draw(judged(*RUNS), tmp_path / "claims")
    assert drawn == {"pr7": "claims/pr7.svg"}
    assert (tmp_path / "claims" / "pr7.svg").read_text().startswith("<svg")
    assert not (tmp_path / "claims" / "stale.png").exists()


@pytest.mark.parametrize("name", ["kept.json", "kept.json.gz"])
def test_what_is_kept_can_be_judged_again(tmp_path, name):
    store.save(RUNS, tmp_path / name)
    assert store.load(tmp_path / name) == list(RUNS)


def test_equal_runs_give_equal_files(tmp_path):
    for name in ("a.json.gz", "b.json.gz"):
        store.save(RUNS, tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_keeping_replaces_the_implementation_that_was_measured_anew_and_no_other(tmp_path):
    store.keep(RUNS, tmp_path)
    store.keep([run("cython", ratio=0.7)], tmp_path)
    (file,) = tmp_path.iterdir()
    assert file.name == "7-1.json.gz"
    walls = {
        r.impl: r.case("toy.time_spin")["meters"]["wall"]["ratio"] for r in store.load(tmp_path)
    }
    assert walls == pytest.approx({"python": 0.5, "cython": 0.7})


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"kind": "comparison", "schema": 1})])
def test_a_file_of_another_kind_is_told(tmp_path, text):
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(LedgerError, match="not results of claims"):
        store.load(file)


def test_results_that_are_not_there_are_told(tmp_path):
    with pytest.raises(LedgerError, match="there are no results"):
        store.load(tmp_path / "x.json")
    with pytest.raises(LedgerError, match="holds no results"):
        store.load(tmp_path)
