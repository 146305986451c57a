"""How the arena is doing now: for operators in the administration, and for monitoring."""
