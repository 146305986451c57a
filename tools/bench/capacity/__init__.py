"""How far an arena goes: `make bench BENCH="--only capacity"`. docs/scaling.md has the results."""
