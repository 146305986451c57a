"""SQL that stands in `.sql` files of an app: what migrations create, and statements of more than a few lines."""

from functools import cache
from pathlib import Path


def read_sql(path: Path, **values: object) -> str:
    """Return the file's text with its {placeholders} filled in; without values it is taken as it is."""
    text = _read(path)
    return text.format_map(values) if values else text


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
