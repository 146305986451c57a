"""Releases of the data: dated sets of files with checksums."""
