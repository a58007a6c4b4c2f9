"""Files of other benchmark tools (Go, pyperf, asv), read as samples of a comparison."""
