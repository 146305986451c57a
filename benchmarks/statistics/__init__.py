"""Statistics of a run: means, differences, power; numbers in, numbers out; no Django."""
