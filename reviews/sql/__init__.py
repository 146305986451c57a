"""Statements of this app, found by their names: `read_sql("draw_item.sql")`."""

from pathlib import Path

from common import sql_files


def read_sql(name: str) -> str:
    return sql_files.read_sql(Path(__file__).with_name(name))
