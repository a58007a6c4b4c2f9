"""The page in a real browser, from the disk: it loads whole, says nothing bad, and fits."""

import json
import os
import re
import shutil
import subprocess

import pytest

from benchproof.render.page import write_page
from tests.harness.sample_comparison import BARE, make_comparison

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = [
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--allow-file-access-from-files",
    "--enable-logging=stderr",
    "--v=0",
    "--timeout=20000",
]
SECONDS = 90

# Opens the page in a frame (a headless window can't be as narrow as a telephone), then writes
# what it found into its own document, which chromium dumps.
PROBE = """<!doctype html><meta charset="utf-8"><pre id="found"></pre>
<iframe src="index.html" style="width: {width}px; height: 900px; border: 0"></iframe>
<script>
window.onload = () => {{
  const frame = document.querySelector("iframe");
  const page = frame.contentDocument;
  for (const closed of page.querySelectorAll("details")) closed.open = true;
  const images = [...page.images];
  Promise.allSettled(images.map((image) => image.decode())).then(() => {{
    document.getElementById("found").textContent = JSON.stringify({{
      images: images.length,
      broken: images.filter((image) => image.naturalWidth === 0).map((image) => image.src),
      grounds: [...new Set(images.filter((image) => image.naturalWidth).map((image) => {{
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.drawImage(image, 0, 0);
        return `rgb(${{[...canvas.getImageData(2, 2, 1, 1).data].slice(0, 3).join(", ")}})`;
      }}))],
      width: page.documentElement.scrollWidth,
      ground: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
      headline: page.querySelector("h1").textContent,
    }});
  }});
}};
</script>
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"
    ),
]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    comparisons = [make_comparison("impl"), make_comparison("commits"), BARE]
    for comparison in comparisons[:2]:
        comparison["cases"] = [c for c in comparison["cases"] if c["suite"] != "encode_message"]
    return write_page(comparisons, tmp_path_factory.mktemp("page"))


def look(page, profile, width, scheme):
    """What the browser found in the page, and what it said on its console."""
    probe = page.with_name(f"probe-{width}-{scheme}.html")
    probe.write_text(PROBE.format(width=width), encoding="utf-8")
    command = [
        CHROMIUM,
        *QUIET,
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
        f"--blink-settings=preferredColorScheme={'0' if scheme == 'dark' else '1'}",
        f"--user-data-dir={profile}",
        "--dump-dom",
        probe.as_uri(),
    ]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    found = re.search(r'<pre id="found">(\{.*?\})</pre>', answer.stdout)
    assert found, answer.stderr[-2000:]
    said = [line for line in answer.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(found[1].replace("&amp;", "&")), said


@pytest.mark.parametrize(
    ("width", "scheme", "ground"),
    [
        (1440, "light", "rgb(254, 254, 254)"),
        (1440, "dark", "rgb(20, 24, 31)"),
        (390, "light", "rgb(254, 254, 254)"),
        (390, "dark", "rgb(20, 24, 31)"),
    ],
)
def test_the_page_loads_whole_and_fits(page, tmp_path, width, scheme, ground):
    found, said = look(page, tmp_path, width, scheme)
    assert said == []
    assert found["broken"] == []
    assert found["images"] == 2 * 2 * 4
    assert found["grounds"] == [ground], "a picture is drawn for another ground"
    assert found["ground"] == ground
    assert found["width"] <= width, "the page scrolls sideways"
    assert found["headline"] == "Regression"


def test_a_missing_picture_and_a_console_error_would_be_seen(page, tmp_path):
    broken = page.parent.with_name("broken")
    shutil.copytree(page.parent, broken)
    next((broken / "pictures").glob("*.svg")).unlink()
    with (broken / "index.html").open("a", encoding="utf-8") as out:
        out.write("<script>nonsense()</script>")
    found, said = look(broken / "index.html", tmp_path, 1440, "light")
    assert len(found["broken"]) == 1
    assert any("nonsense is not defined" in line for line in said)
