"""Votes as files anybody may keep, and may compute the board from."""
