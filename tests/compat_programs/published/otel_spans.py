"""The OpenTelemetry instrumentation of the `cassandra` package: one span a request."""
# ruff: noqa: T201  (a program prints)

import sys

from cassandra.cluster import Cluster
from opentelemetry.instrumentation.cassandra import CassandraInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
CassandraInstrumentor().instrument(tracer_provider=provider)
with Cluster([sys.argv[1]]) as cluster:
    cluster.connect().execute("SELECT release_version FROM system.local").one()
for span in exporter.get_finished_spans():
    print(span.name, sorted(span.attributes.items()))
