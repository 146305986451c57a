"""Capacity of an arena: `make bench BENCH="--only capacity"`. docs/scaling.md has the results."""
