"""What every room may use: spans, errors, devices, progress, the cache."""
