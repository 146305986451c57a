"""Checks of answers: extraction and scorers; no Django."""
