"""Publish what was measured as a site: static files, for the disk or any web host.

It shows the history that `benchproof history` measured, with its changes, the claims, the
calibration and the newest gate; a part that is missing says so on its page. Files that cannot be
used are named and left out. The site is written beside its place and moved there whole; the path of
its first page is printed last. asv's own site is published beside it.

Examples:
  benchproof publish                              reports/html/index.html
  benchproof publish --out site --no-asv          elsewhere, without asv's own site
  benchproof publish --pictures changed           SVG and PNG of benchmarks that changed last
  benchproof publish --pictures '^parsing'        of those that match
  benchproof publish --from other/reports --json done.json

Exit status: 0 published, 2 could not be published.
"""

import gc
import os
from pathlib import Path
from typing import Annotated

from benchproof import files

from .options import Json, Output, option


def command(
    out: Annotated[Path | None, option("Default: html/ in the reports.", "DIR")] = None,
    reports: Annotated[
        Path | None, option("Default: reports/ of the checkout.", "DIR", "--from")
    ] = None,
    pictures: Annotated[str, option("Draw: changed, all, or a REGEX of benchmarks.", "WHICH")] = "",
    asv: Annotated[bool, option("Make asv's own site, too.")] = True,
    json: Json = None,
) -> int:
    """Publish the site."""
    # Products of short vectors: threads of the library would wait for each other, not help.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is read stays until the end: to look again and again for garbage among it took a quarter
    # of the time of a history of 10,000 commits, and found none.
    gc.disable()
    from benchproof import checkout  # noqa: PLC0415  (as in compare)
    from benchproof.grids import tell_line  # noqa: PLC0415
    from benchproof.site import publication  # noqa: PLC0415  (numpy is slow to import)

    output = Output(json)
    here = checkout.Checkout.around(Path.cwd())
    cache = files.cache_of(here.root)
    source = reports or here.root / "reports"
    if out is None and reports is None:
        here.hide(source / "html")
    asked = publication.Asked(source, out or source / "html", pictures, asv)
    with output.telling() as tell:
        done = publication.publish(asked, here, cache, tell)
    output.keep({"schema": 1, "kind": "publish"} | done.told())
    console = output.console()
    for line in done.lines():
        tell_line(console, line)
    return 0
