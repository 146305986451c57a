"""Starts, watches and stops everything an arena needs. Knows no Django: it begins before there is a database."""
