"""Pages of numbers: run against run, heat map and report."""
