"""The algorithms of two papers as they are printed: baselines for benchmarks, on one thread."""
