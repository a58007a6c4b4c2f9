"""The page: all comparisons in one HTML file that opens from the disk, its pictures beside it.

``run.html`` carries its own style and no script. Pictures lie in ``pictures/``, the raw data in
``data/``. The page is written beside its final name and moved there last, so that a reader never
sees half of it, and what an earlier page left in the two folders is removed afterwards.

It is ``index.html``, too, unless `benchproof publish` has put the site there, which links to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchproof import files, suite
from benchproof.gate.report import words
from benchproof.plan import SIDES

from . import units, view
from .pictures import Picture, draw_suite

if TYPE_CHECKING:
    from pathlib import Path

    from benchproof.gate.report.words import Row

#: The page, the first page of its folder, and what is in the folder if the site is.
PAGE, FIRST, SITE = "run.html", "index.html", "site"
#: What a document and its parts have at least.
_BARE: dict[str, Any] = {
    "title": "untitled comparison", "note": "", "partial": False, "created": "", "gates": True,
    "provenance": {}, "meters": {}, "suites": (),
    "verdict": {"status": "could not measure", "summary": "No verdict was recorded"},
}  # fmt: skip
_BARE_SIDE: dict[str, Any] = {
    "commit": "", "dirty": False, "subject": "", "impl": "", "why_pure": "", "content": "",
    "wheel_sha256": "", "description": "",
}  # fmt: skip
_BARE_ROW: dict[str, Any] = {
    "status": "error", "verdict": None, "why": "", "note": "", "proof": None, "meters": {},
    "impl": "",
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """A suite of a comparison.

    Attributes:
        name: with its variant, where there are several.
        rows: its cases.
        whole: what is said of it as a whole; empty if nothing is.
        state: its verdict as a whole.
        pictures: by kind.
    """

    name: str
    rows: list[Row]
    whole: str
    state: str
    pictures: dict[str, Picture]


def write_page(comparisons: list[dict[str, Any]], out_dir: Path) -> Path:
    """Write the page and what it links to.

    Args:
        comparisons: Comparisons as JSON. The page shows the gravest first, otherwise in this order.
        out_dir: The folder of the page; created if it is not there. Files in it that the page did
            not write are left alone, except in its ``pictures`` and ``data``.

    Returns:
        The path of ``index.html``; that of ``run.html`` if the former is the site's.
    """
    pictures, data = out_dir / "pictures", out_dir / "data"
    for folder in (pictures, data):
        folder.mkdir(parents=True, exist_ok=True)
    before = {path for folder in (pictures, data) for path in folder.iterdir()}
    shown, written = [], set()
    for at, comparison in enumerate(comparisons, start=1):
        document = whole(comparison)
        name = f"{at}-{units.slug(document['title'])}"
        parts = _parts(document, name, pictures)
        written |= {pictures / each.file for part in parts for each in part.pictures.values()}
        # Strict JSON: a number that is not finite becomes null, which every reader understands.
        files.write_json(_finite(comparison), data / f"{name}.json")
        written.add(data / f"{name}.json")
        shown.append((name, document, parts))
    status, headline = words.headline(document for _, document, _ in shown)
    gravest = list(words.HEADLINES)
    shown.sort(key=lambda each: gravest.index(words.status(each[1])))
    in_site = (out_dir / SITE).is_dir()
    text = view.templates_of("benchproof.render").get_template("page.html").render(
        comparisons=shown, status=status, headline=headline, site=FIRST if in_site else "",
    )  # fmt: skip
    for name in (PAGE,) if in_site else (PAGE, FIRST):
        page = out_dir / name
        files.write(text, page)
    for stale in before - written:
        if stale.is_file():
            stale.unlink()
    return page


def whole(comparison: dict[str, Any]) -> dict[str, Any]:
    """A document with everything that the page shows, also of one with hardly anything in it."""
    rows = []
    for row in comparison.get("cases") or ():
        name, (of, _) = row["name"], suite.parts(row["name"])
        rows.append({**_BARE_ROW, "suite": of, "case": name[len(of) :].lstrip(".:"), **row})
    found = {**_BARE, **comparison, "cases": rows}
    for side in SIDES:
        found[side] = {**_BARE_SIDE, "spec": side, **(comparison.get(side) or {})}
    return found


def _parts(document: dict[str, Any], name: str, folder: Path) -> list[Part]:
    """The suites of a document, in the order in which they were planned, with their pictures."""
    judged = {(each["name"], each.get("impl") or ""): each for each in document["suites"]}
    groups = words.by_suite(document["cases"])
    several = len({impl for _, impl in groups}) > 1
    found = []
    for (of, impl), rows in groups.items():
        title = f"{of} [{impl}]" if several else of
        about = judged.get((of, impl))
        told = ": ".join(filter(None, (about["verdict"], words.whole(about)))) if about else ""
        found.append(Part(
            title, rows, told, about["verdict"] if about else "",
            draw_suite(title, rows, document, name, folder),
        ))  # fmt: skip
    return found


def _finite(value: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    if isinstance(value, float) and not units.usable(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
