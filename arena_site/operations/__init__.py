"""State of the running arena, for administration and monitoring."""
