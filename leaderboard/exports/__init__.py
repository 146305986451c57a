"""Exports of votes and stars: JSON lines, CSV and Parquet, and the recomputation of snapshots from them."""
