"""Votes that were cast elsewhere, made into boards of their own."""
