"""What a waiting person sees: a bar with the time left on a terminal, else plain lines."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console


class Teller(Protocol):
    """Hears what the harness is doing."""

    def stage(self, text: str) -> None:
        """A new stage begins."""

    def expect(self, seconds: float) -> None:
        """From now on, about this long remains in this comparison."""

    def line(self, text: str) -> None:
        """Something worth keeping on the screen."""


class TimeLeft(ProgressColumn):
    """Minutes and seconds until the deadline; the clock runs while a stage is silent."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """The column's text."""
        deadline = task.fields.get("deadline")
        if deadline is None:
            return Text("")
        left = max(0, round(deadline - time.monotonic()))
        return Text(f"about {left // 60}:{left % 60:02d} left", style="cyan")


class Spent(ProgressColumn):
    """The bar: the part of the expected time that has passed."""

    max_refresh = 0.5

    def __init__(self) -> None:
        """A bar of rich's, fed with time."""
        super().__init__()
        self._bar = BarColumn(bar_width=24)

    def render(self, task: Task) -> object:  # type: ignore[override]
        """The bar as it stands now."""
        start, deadline = task.fields.get("start"), task.fields.get("deadline")
        if start is not None and deadline is not None:
            task.total = deadline - start
            task.completed = min(task.total, time.monotonic() - start)
        return self._bar.render(task)


class Bar:
    """A terminal's teller."""

    def __init__(self, progress: Progress) -> None:
        """Rich's progress display, already running."""
        self._progress = progress
        self._task = progress.add_task("", total=None)

    def stage(self, text: str) -> None:
        """Show the stage beside the bar."""
        self._progress.update(self._task, description=text)

    def expect(self, seconds: float) -> None:
        """Set the bar's end."""
        now = time.monotonic()
        self._progress.update(self._task, start=now, deadline=now + seconds)

    def line(self, text: str) -> None:
        """Print above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)


class Lines:
    """A log's teller: one line a stage."""

    def __init__(self, console: Console) -> None:
        """Where the lines go."""
        self._console = console
        self._last = ""

    def stage(self, text: str) -> None:
        """Print a stage once, however often it reports."""
        kind = text.partition(",")[0]
        if kind != self._last:
            self._last = kind
            self.line(text)

    def expect(self, seconds: float) -> None:
        """Say how long it takes."""
        self.line(f"about {seconds / 60:.1f} minutes from here")

    def line(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def telling(console: Console) -> Iterator[Teller]:
    """The right teller for a console (standard error)."""
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), Spent(), TimeLeft())
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress)
