from functools import cache
from pathlib import Path


def read_sql(path: Path, **values: object) -> str:
    text = _read(path)
    return text.format_map(values) if values else text


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
