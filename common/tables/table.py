from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

# Type of a column in Parquet: "texts" is a list of texts, "time" has microseconds and is UTC.
Kind = Literal["text", "texts", "int32", "int64", "float64", "bool", "time"]
# Lists of rows.
Batches = Iterable[Sequence[object]]


@dataclass(frozen=True)
class Table:
    """Columns of a file.

    kinds: by column; others are texts. cells: returns a row's values in the order of the columns.
    """

    columns: Sequence[str]
    kinds: Mapping[str, Kind]
    cells: Callable[[Any], Sequence[object]]
