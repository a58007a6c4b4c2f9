"""The page: all comparisons in one HTML file that opens from the disk, its pictures beside it.

``run.html`` carries its own style and no script. Pictures lie in ``pictures/``, the raw data in
``data/``. The page is written beside its final name and moved there last, so that a reader never
sees half of it, and what an earlier page left in the two folders is removed afterwards.

It is ``index.html``, too, unless `benchproof publish` has put the site there, which links to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchproof import files

from . import units, view
from .pictures import draw_suite

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .view import Shown

#: The page, the first page of its folder, and what is in the folder if the site is.
PAGE, FIRST, SITE = "run.html", "index.html", "site"


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
    views = [view.read(comparison, at) for at, comparison in enumerate(comparisons, start=1)]
    before = {path for folder in (pictures, data) for path in folder.iterdir()}
    drawn = {
        (shown.slug, suite.name): draw_suite(suite, shown, pictures)
        for shown in views
        for suite in shown.suites
    }
    written = {pictures / picture.file for suite in drawn.values() for picture in suite.values()}
    for shown, comparison in zip(views, comparisons, strict=True):
        path = data / f"{shown.slug}.json"
        # Strict JSON: a number that is not finite becomes null, which every reader understands.
        files.write_json(_finite(comparison), path)
        written.add(path)

    in_site = (out_dir / SITE).is_dir()
    text = _render(views, drawn, in_site=in_site)
    for name in (PAGE,) if in_site else (PAGE, FIRST):
        page = out_dir / name
        files.write(text, page)
    for stale in before - written:
        if stale.is_file():
            stale.unlink()
    return page


def _render(views: list[Shown], drawn: Mapping[tuple[str, str], Any], *, in_site: bool) -> str:
    status, words = view.headline(views)
    gravest_first = sorted(views, key=lambda shown: view.STATUSES.index(shown.status))
    return (
        view.templates_of("benchproof.render")
        .get_template("page.html")
        .render(
            comparisons=gravest_first,
            drawn=drawn,
            status=status,
            headline=words,
            signs=view.SIGNS,
            slug=units.slug,
            site=FIRST if in_site else "",
        )
    )


def _finite(value: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    if isinstance(value, float) and not units.usable(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
