"""Imports of foreign tables of votes as boards of their own."""
