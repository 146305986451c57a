"""State of the running arena, for operators in the administration and for monitoring."""
