"""The page of a ledger, ``claims.html``, in the look of the main page, and its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchproof import files
from benchproof.claims import policy, words
from benchproof.claims.table import where

from . import canvas, units
from .claimed import draw_claimed, drawable
from .page import environment
from .pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchproof.claims.judge import Finding, RowFindings
    from benchproof.claims.ledger import Page
    from benchproof.claims.policy import Verdict

#: Where the page's pictures lie, beside it.
PICTURES = "claims"
#: How the style sheet calls what each verdict looks like.
LOOKS: dict[Verdict, str] = {
    "reproduced": "improved", "smaller than claimed": "equivalent", "not reproduced": "broken",
    "reversed": "regressed", "not measured": "undecided", "not measurable here": "not-applicable",
}  # fmt: skip
#: What each verdict means, in a sentence.
MEANINGS: dict[Verdict, str] = {
    "reproduced": f"At least {policy.ENOUGH:.0%} of the claimed gain is there.",
    "smaller than claimed": "There is a gain, but less than that.",
    "not reproduced": "Such a gain was excluded, and none beyond the limit was seen.",
    "reversed": "It is a loss here.",
    "not measured": "Undecided, or no commit, no build, a failed proof; the reason is beside it.",
    "not measurable here": "No case can stand for it, or there is nothing to compare.",
}


def write_page(rows: Sequence[RowFindings], out_dir: Path) -> Path:
    """Write the page and its pictures.

    Args:
        rows: judged, in the ledger's order.
        out_dir: the folder of the page; created if it is not there.

    Returns:
        The path of ``claims.html``.
    """
    folder = out_dir / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.iterdir())
    drawn = {}
    for page, findings in _by_page(rows).items():
        if shown := drawable(findings):
            drawn[page.id] = Picture(units.slug(page.id), _in_words(page, findings))
            canvas.save(lambda layout, s=shown: draw_claimed(s, layout),  # type: ignore[misc]
                        folder, drawn[page.id].stem)  # fmt: skip
    for stale in before - {folder / name for each in drawn.values() for name in each.files}:
        if stale.is_file():
            stale.unlink()
    everything = [finding for found in rows for finding in found.findings]
    verdicts = [finding.verdict for finding in everything]
    status = ("no-regression", "regression", "could-not-measure")[policy.exit_status(verdicts)]
    text = environment().get_template("claims.html").render(
        rows=rows, pages=_by_page(rows), drawn=drawn, folder=PICTURES, status=status,
        headline="Published claims, measured here", summary=words.summary(rows),
        tally=words.tally(everything), meanings=MEANINGS, looks=LOOKS, signs=words.SIGNS,
        words=words, where=where, slug=units.slug,
    )  # fmt: skip
    page_file = out_dir / "claims.html"
    files.write(text, page_file)
    return page_file


def draw_report(rows: Sequence[RowFindings], folder: Path) -> dict[str, str]:
    """Draw a PNG a page for the Markdown report, which lies beside their folder.

    Returns:
        By page, the picture's path as seen from the report.
    """
    drawn = {}
    folder.mkdir(parents=True, exist_ok=True)
    for page, findings in _by_page(rows).items():
        if shown := drawable(findings):
            name = f"{units.slug(page.id)}.png"
            with canvas.style():
                picture = draw_claimed(shown, canvas.WIDE)
                picture.savefig(folder / name, format="png", dpi=110, facecolor=canvas.GROUND)
            drawn[page.id] = f"{folder.name}/{name}"
    for stale in set(folder.glob("*.png")) - {folder.parent / path for path in drawn.values()}:
        stale.unlink()
    return drawn


def _by_page(rows: Sequence[RowFindings]) -> dict[Page, list[Finding]]:
    groups: dict[Page, list[Finding]] = {}
    for found in rows:
        groups.setdefault(found.row.page, []).extend(found.findings)
    return groups


def _in_words(page: Page, findings: Sequence[Finding]) -> str:
    counts = ", ".join(f"{number} {verdict}" for verdict, number in words.tally(findings).items())
    return (
        f"{page.title}: the ratio that each figure claims against the ratios measured here. "
        f"{counts}. The table below has every figure."
    )
