"""Publishing: what is known becomes a folder of static files, written beside and then exchanged."""

import html
import json
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchproof import asv_conf, files, processes, results
from benchproof.checkout import Checkout
from benchproof.errors import SiteError
from benchproof.gate.report import words
from benchproof.progress import Teller

from . import pack, pages, sources, views
from .beside import beside
from .pack import Group, Store
from .sources import Gathered

#: What in the folder belongs to the site; everything else in it is others' and is kept.
OWN = (*pages.PAGES, "site")
#: One of these is in a folder that a site may take the place of.
KNOWN = {"site", "run.html", "claims.html", "asv"}
#: The folder of asv's own site.
ASV = "asv"
#: Of its output, the lines that are quoted where it fails.
_QUOTED = 5


@dataclass(frozen=True)
class Asked:
    """What a person asked for.

    Attributes:
        reports: folder of what was measured.
        out: folder of the site.
        pictures: benchmarks to draw for papers and pull requests: an expression, "changed", "all",
            or "" for none.
        asv: whether asv's own site is made, too.
    """

    reports: Path
    out: Path
    pictures: str = ""
    asv: bool = True


@dataclass
class Published:
    """What was published.

    Attributes:
        page: the first page.
        seconds: by step, how long it took.
        series: how many series are shown.
        commits: how many commits have results.
        changes: how many changes are marked.
        written: how many data files were new.
        kept: how many were taken over from the site before.
        left_out: files that could not be used.
        said: what else a person should know.
    """

    page: Path
    seconds: dict[str, float] = field(default_factory=dict)
    series: int = 0
    commits: int = 0
    changes: int = 0
    written: int = 0
    kept: int = 0
    left_out: int = 0
    said: list[str] = field(default_factory=list)

    def told(self) -> dict[str, Any]:
        """It in JSON's types."""
        return asdict(self) | {"page": str(self.page)}

    def lines(self) -> list[str]:
        """It for a person; the path of the page last."""
        took = ", ".join(f"{name} {each:.1f} s" for name, each in self.seconds.items())
        lines = list(self.said)
        lines.append(
            f"{self.series} series of {self.commits} commits, {self.changes} changes; "
            f"{self.written} data files written, {self.kept} kept ({took})"
        )
        if self.left_out:
            lines.append(f"left out: {self.left_out} files, which left-out.html names")
        return [*lines, str(self.page)]


def publish(asked: Asked, checkout: Checkout, cache: Path, tell: Teller) -> Published:
    """Publish the site.

    Args:
        asked: for what.
        checkout: whose commits the results are about.
        cache: a folder for what is remembered between two runs.
        tell: hears what is done.

    Raises:
        SiteError: the reports are not there, or another process is publishing.
        BenchproofError: something cannot be written.
    """
    if asked.out.resolve() != (asked.reports / "html").resolve():
        refuse_strangers(asked.out)
    done = Published(asked.out / "index.html")
    start, cache = time.monotonic(), cache / "site"

    def ended(step: str) -> None:
        done.seconds[step] = time.monotonic() - start - sum(done.seconds.values())

    parts = sources.gather(asked.reports, checkout, cache, tell)
    ended("read")
    tell.stage("writing the site")
    with beside(asked.out, cache, OWN) as fresh:
        groups = pack.groups(parts.history)
        pictures = {}
        if asked.pictures:
            from .pictures import draw  # noqa: PLC0415  (matplotlib is slow to import)

            pictures = draw(asked.pictures, groups, parts, fresh / "site", tell)
        ended("pictures")
        _write(fresh, asked, checkout, parts, groups, pictures, done)
        ended("write")
    if asked.asv:
        _publish_asv(asked, checkout, cache, done, tell)
        ended("asv")
    return done


def refuse_strangers(out: Path) -> None:
    """Do not replace a folder that has nothing of ours in it: someone's home, or the checkout.

    Raises:
        SiteError: it is such a folder, or no folder.
    """
    if not out.exists():
        return
    if not out.is_dir():
        raise SiteError(f"{out} is no folder")
    names = {entry.name for entry in out.iterdir()}
    if ".git" in names or (names and not names & KNOWN):
        raise SiteError(
            f"{out} holds other things, and no page of benchproof's: choose an empty one"
        )


def _write(
    fresh: Path, asked: Asked, checkout: Checkout, parts: Gathered, groups: Sequence[Group],
    pictures: Mapping[str, str], done: Published,
) -> None:  # fmt: skip
    """Write the data and the pages, and count them."""
    data = fresh / "site" / "data"
    data.mkdir(parents=True, exist_ok=True)
    pages.put_static(fresh / "site")
    store = Store(data, asked.out / "site" / "data")
    history, config = parts.history, asv_conf.whole(checkout.root)
    every = history.series.values()
    # The places of commits at which anything was measured.
    measured = sorted(set().union(*(series.index.tolist() for series in every)))
    catalogue = _catalogue(parts, groups, pictures, measured, store)
    has_run = bool(parts.run) and (asked.out / "run.html").exists()
    has_asv = (asked.out / ASV / "index.html").exists() or (asked.asv and history.series)
    site = {
        "project": str(config.get("project") or checkout.root.name),
        "created": results.now()[:16].replace("T", " ") + " UTC",
        # Data files of everything that graphs can show, and of the names of all benchmarks.
        "catalogue": store.give("catalogue", catalogue),
        "names": store.give("names", list(catalogue["benchmarks"])),
        "results": f"{sum(map(len, every)):,}",
        "measured": len(measured),
        "newest": history.commits[measured[-1]].hash if measured else "",
        "machines": len({key.machine for key in history.series}),
        "commit_url": views.of_commits(checkout, str(config.get("show_commit_url") or "")),
        "others": [("run.html", "the newest run")] * has_run
        + [(f"{ASV}/index.html", "asv's own site")] * bool(has_asv),
    }
    pages.write(fresh, site, parts, groups, asked.reports, has_run=has_run)
    done.series, done.commits = len(history.series), len(measured)
    done.changes, done.left_out = len(parts.changes), len(parts.left_out)
    done.written, done.kept = store.written, store.kept
    done.said += filter(None, parts.why.values())


def _catalogue(
    parts: Gathered, groups: Sequence[Group], pictures: Mapping[str, str], measured: list[int],
    store: Store,
) -> dict[str, Any]:  # fmt: skip
    """What there is, and which data file holds it."""
    history = parts.history
    changes = defaultdict(list)
    for change in parts.changes:
        changes[change.key.benchmark, change.key.meter, change.key.machine].append(change)
    benchmarks = defaultdict(list)
    for group in groups:
        own = changes[group.benchmark, group.meter, group.machine]
        head = pack.put_group(group, own, pictures.get(group.benchmark, ""), store)
        many = sum(map(len, group.series.values()))
        benchmarks[group.benchmark].append((group.meter, group.machine, group.id, head, many))
    return {
        "commits": pack.put_commits(history.commits, store),
        "measured": measured,
        "blocks": {
            "size": pack.BLOCK, "files": pack.put_blocks(groups, len(history.commits), store),
        },
        "meters": {
            meter: {"label": words.label(meter), "limit": views.limit_of(meter)}
            for meter in views.in_order({group.meter for group in groups})
        },
        "benchmarks": benchmarks,
    }  # fmt: skip


def _publish_asv(
    asked: Asked, checkout: Checkout, cache: Path, done: Published, tell: Teller
) -> None:
    """Make asv's site beside its place, too."""
    source = asked.reports / sources.ASV_RESULTS
    if not source.is_dir():
        return
    tell.stage("asv publishes its own site (--no-asv leaves it out)")
    try:
        with beside(asked.out / ASV, cache, ()) as fresh:
            publish_asv(checkout, source, fresh)
    except SiteError as error:
        done.said.append(f"asv's own site was not made: {error}")
        _explain(asked.out / ASV, str(error))


def publish_asv(checkout: Checkout, results: Path, folder: Path) -> None:
    """Run `asv publish`.

    Args:
        checkout: with the settings.
        results: asv's results.
        folder: for the site.

    Raises:
        SiteError: there is nothing to publish, or it failed.
    """
    own = asv_conf.whole(checkout.root)
    if not own:
        raise SiteError("there is no asv.conf.json that asv can read")
    if not (results / "benchmarks.json").exists():
        raise SiteError("the results have no benchmarks.json, which asv writes when it measures")
    # Places that do not depend on where the file lies.
    settings = own | {
        "repo": str(checkout.root),
        "results_dir": str(results.resolve()),
        "html_dir": str(folder.resolve()),
        "benchmark_dir": str(asv_conf.locate(checkout.root).folder),
        "env_dir": str(checkout.root / str(own.get("env_dir", "env"))),
    }
    with files.scratch() as scratch:
        config = scratch / "asv.conf.json"
        config.write_text(json.dumps(settings), encoding="utf-8")
        command = [sys.executable, "-m", "asv", "publish", "--no-pull", "--config", str(config)]
        status, text = processes.run(command, cwd=checkout.root)
    if status:
        said = text.strip().splitlines()[-_QUOTED:]
        raise SiteError("asv publish failed: " + " / ".join(said))


def _explain(folder: Path, why: str) -> None:
    """Where there is no site of asv's, neither a new one nor an old one, say so to who looks."""
    page = folder / "index.html"
    if page.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    page.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>asv</title>'
        f"<h1>asv's own site was not made</h1><p>{html.escape(why)}</p>\n",
        encoding="utf-8",
    )
