"""The history of a project's benchmarks: measured commit by commit, kept in asv's own files."""
