"""Backup of an arena's database and uploads to one file, and restore."""
