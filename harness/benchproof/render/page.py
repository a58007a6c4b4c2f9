"""The page: all comparisons in one HTML file that opens from the disk, its pictures beside it.

``run.html`` carries its own style and no script. Pictures lie in ``pictures/``, the raw data in
``data/``. The page is written beside its final name and moved there last, so that a reader never
sees half of it, and what an earlier page left in the two folders is removed afterwards.

It is ``index.html``, too, unless `benchproof publish` has put the site there, which links to it.
"""

from pathlib import Path
from typing import Any, NamedTuple

from benchproof import files
from benchproof.gate.report import words

from . import units, view
from .pictures import Picture, draw_suite

#: The page, the first page of its folder, and what is in the folder if the site is.
PAGE, FIRST, SITE = "run.html", "index.html", "site"


class Part(NamedTuple):
    """A suite of a comparison.

    Attributes:
        name: with its variant, where there are several.
        rows: its cases.
        whole: what was judged of it as a whole, or None.
        pictures: by kind.
    """

    name: str
    rows: list[words.Row]
    whole: words.Row | None
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
    for at, document in enumerate(comparisons, start=1):
        name = f"{at}-{units.slug(document['title'])}"
        parts = _parts(document, name, pictures)
        written |= {pictures / each.file for part in parts for each in part.pictures.values()}
        files.write_json(document, data / f"{name}.json")
        written.add(data / f"{name}.json")
        shown.append((name, document, parts))
    status, headline = words.headline(document for _, document, _ in shown)
    shown.sort(key=lambda each: words.GRAVEST.index(words.status(each[1])))
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


def _parts(document: dict[str, Any], name: str, folder: Path) -> list[Part]:
    """The suites of a document, in the order in which they were planned, with their pictures."""
    judged = words.wholes(document)
    groups = words.by_suite(document["cases"])
    several = len({impl for _, impl in groups}) > 1
    titles = {key: f"{key[0]} [{key[1]}]" if several else key[0] for key in groups}
    return [
        Part(titles[key], rows, judged.get(key),
             draw_suite(titles[key], rows, document, name, folder))
        for key, rows in groups.items()
    ]  # fmt: skip
