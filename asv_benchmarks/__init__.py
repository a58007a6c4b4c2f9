"""One definition of each benchmark, for asv and for the harness alike; see docs/benchmarks.md."""
