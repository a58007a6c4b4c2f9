"""Benchmarks of the toy driver that the harness's own tests measure."""
