"""What OpenTelemetry costs a point select: its API alone, and recording.

The request is that of ``asv_benchmarks/query_path.py``. ``unobserved`` is the API without an SDK,
as a program has it whose deployment records nothing; ``recorded`` makes a span and a duration,
which a processor drops where an exporter would send them.
"""

# ruff: noqa: ANN001, ANN202  (objects of whichever driver is installed)

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import Any

from . import query_path
from .case import Case, Prepared, expect, install


def _one(execute=None, statement=None, values=None, deliver=None):
    future = execute(statement, values)
    deliver()
    return future.result().one()


def _prepare(*, records: bool) -> Prepared:
    if find_spec("driver.telemetry") is None:
        raise NotImplementedError("this commit has no telemetry")
    from opentelemetry.metrics import NoOpMeterProvider
    from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
    from opentelemetry.trace import NoOpTracerProvider

    from driver.telemetry import Telemetry

    ended: list[Any] = []

    class Last(SpanProcessor):
        """Keeps the last span, for the proof."""

        def on_end(self, span: Any) -> None:  # noqa: ANN401  (a ReadableSpan)
            ended[:] = [span]

    made = query_path.Request(query_path.SELECTS["point_select"])
    provider = TracerProvider()
    provider.add_span_processor(Last())
    # Which durations are kept as examples is drawn by lot, and so would be the work of a call.
    meters = MeterProvider(exemplar_filter=AlwaysOffExemplarFilter())
    providers = (provider, meters) if records else (NoOpTracerProvider(), NoOpMeterProvider())
    Telemetry(*providers).watch(made.session)

    def check(row: Any) -> dict[str, Any]:  # noqa: ANN401  (a row)
        expect(row.sensor == 1, f"not the recorded row: {row}")
        names = [span.name for span in ended]
        expect(names == (["SELECT cqlpath.readings"] if records else []), f"spans: {names}")
        return {"spans": len(names)}

    inputs = (made.session.execute_async, made.statement, made.select.values, made.ring.deliver)
    return Prepared(inputs, check=check)


CASES = [
    Case(
        f"point_select_{name}",
        _one,
        partial(_prepare, records=records),
        ("execution.request", "telemetry"),
        ("telemetry:Telemetry.span_of", *query_path.GLUE),
    )
    for name, records in (("unobserved", False), ("recorded", True))
]

install(globals(), CASES)
