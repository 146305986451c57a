"""Arenas, sample runs and simulated votes, shared by tests and tools."""
