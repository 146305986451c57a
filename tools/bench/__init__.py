"""Benchmarks of a running arena: `make bench`. Figures are printed beside their bars; none fails."""
