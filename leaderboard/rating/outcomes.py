"""Outcomes of a vote on two sides; arrays of votes hold their indices."""

OUTCOMES = ("left", "right", "tie", "both_bad")
