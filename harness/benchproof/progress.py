"""What a waiting person sees: a bar with the time left on a terminal, else plain lines."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress_bar import ProgressBar
from rich.text import Text

#: Seconds between two lines of one stage in a log.
EVERY = 10.0


class Teller:
    """Hears what the harness is doing; this one tells nobody."""

    def stage(self, text: str) -> None:
        """A new stage begins."""

    def expect(self, seconds: float) -> None:
        """From now on, about this long remains in this comparison."""

    def line(self, text: str) -> None:
        """Something worth keeping on the screen."""


class TimeLeft(ProgressColumn):
    """Minutes and seconds until the end; the clock runs while a stage is silent."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """The column's text."""
        if task.total is None:
            return Text("")
        left = max(0, round(task.total - (task.elapsed or 0)))
        return Text(f"about {left // 60}:{left % 60:02d} left", style="cyan")


class Spent(BarColumn):
    """The bar: the part of the expected time that has passed."""

    max_refresh = 0.5

    def render(self, task: Task) -> ProgressBar:
        """The bar as it stands now."""
        if task.total is not None:
            task.completed = min(task.total, task.elapsed or 0)
        return super().render(task)


class Bar(Teller):
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
        self._progress.reset(self._task, total=seconds)

    def line(self, text: str) -> None:
        """Print above the bar."""
        self._progress.console.print(text, highlight=False, markup=False)


class Lines(Teller):
    """A log's teller: a line for each stage, and one now and then while it lasts, with the time."""

    def __init__(self, console: Console) -> None:
        """Where the lines go."""
        self._console = console
        self._last, self._said, self._deadline = "", 0.0, 0.0

    def stage(self, text: str) -> None:
        """Print a stage when it begins, and then how far it is, but not too often."""
        kind = text.partition(",")[0]
        now = time.monotonic()
        if kind != self._last or now - self._said >= EVERY:
            self._last, self._said = kind, now
            left = self._deadline - now
            self.line(text + (f"; {about(left)} left" if left > 0 else ""))

    def expect(self, seconds: float) -> None:
        """Know how long it takes: the next stage says so."""
        self._deadline = time.monotonic() + seconds

    def line(self, text: str) -> None:
        """Print a line."""
        self._console.print(
            f"{time.strftime('%H:%M:%S')} {text}", highlight=False, markup=False, soft_wrap=True
        )


class Counter:
    """Says how many of a stage's benchmarks are done, and how long the rest takes.

    The estimate follows what those that are done have taken: a benchmark is expected to take so
    much of the stage's time as it is of the stage's cost.
    """

    def __init__(
        self, words: str, costs: Mapping[str, float], tell: Teller, after: float = 0.0
    ) -> None:
        """Begin a stage.

        Args:
            words: what is done.
            costs: by benchmark, what it will cost, in seconds at first.
            tell: hears of it.
            after: seconds that the stages after this one will take.
        """
        self._words, self._costs, self._tell, self._after = words, dict(costs), tell, after
        self._all, self._number = sum(costs.values()), len(costs)
        self._start = time.monotonic()
        tell.expect(self._all + after)
        tell.stage(f"{words}, 0 of {self._number}")

    def done(self, name: str) -> None:
        """A benchmark is done."""
        self._costs.pop(name, None)
        left = sum(self._costs.values())
        passed = time.monotonic() - self._start
        if left < self._all:
            self._tell.expect(passed * left / (self._all - left) + self._after)
        self._tell.stage(f"{self._words}, {self._number - len(self._costs)} of {self._number}")


def about(seconds: float) -> str:
    """A time, roughly."""
    return f"about {seconds / 60:.0f} min" if seconds > 90 else f"about {seconds:.0f} s"


@contextmanager
def telling(console: Console) -> Iterator[Teller]:
    """The right teller for a console (standard error)."""
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        Spent(24),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bar(progress)
