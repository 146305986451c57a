"""Columns of a query as arrays, without a Python object for each value."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg.pq import Format

Columns = dict[str, NDArray[np.float64]]


def read_columns(
    sql: str, parameters: Mapping[str, int | list[str]], names: Sequence[str], *, by: Sequence[str] = ()
) -> Iterator[tuple[tuple[str, ...], Columns]]:
    """Yield a query's numeric columns, NaN for NULL, for each combination of the texts `by`, in their order."""
    numbers = [f"string_agg(float8send(coalesce({name}::double precision, 'NaN')), '')" for name in names]
    texts = [f'{name} COLLATE "C"' for name in by]
    groups = f"GROUP BY {', '.join(texts)} ORDER BY {', '.join(texts)}" if by else "HAVING count(*) > 0"
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # of bytea, half of the hexadecimal text
        cursor.execute(f"SELECT {', '.join([*texts, *numbers])} FROM ({sql}) AS found {groups}", dict(parameters))  # noqa: S608
        for row in cursor:
            columns = (np.frombuffer(column, dtype=">f8").astype(float) for column in row[len(by) :])
            yield tuple(row[: len(by)]), dict(zip(names, columns, strict=True))
