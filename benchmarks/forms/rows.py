"""Forms of a formset that buttons add and remove, without a script."""

import re

from django.http import QueryDict

from common.text.numbers import parse_whole_number


def count_rows(data: QueryDict, prefix: str) -> int:
    return parse_whole_number(data.get(f"{prefix}-TOTAL_FORMS", ""), max_digits=4) or 0


def add_row(data: QueryDict, prefix: str, **values: str) -> None:
    """data: a copy that may be changed."""
    total = count_rows(data, prefix)
    for name, value in values.items():
        data[f"{prefix}-{total}-{name}"] = value
    data[f"{prefix}-TOTAL_FORMS"] = str(total + 1)


def remove_row(data: QueryDict, prefix: str, place: str) -> None:
    """data: a copy that may be changed. place: as sent by the button; an unknown one removes nothing."""
    total = count_rows(data, prefix)
    if not place.isdecimal() or int(place) >= total:
        return
    removed = int(place)
    named = re.compile(rf"{prefix}-(\d+)-(.+)")
    found = [(name, match) for name in list(data) if (match := named.fullmatch(name)) and int(match[1]) >= removed]
    values = {(int(match[1]), match[2]): data.pop(name) for name, match in found}
    for (number, name), sent in values.items():
        if number > removed:
            data.setlist(f"{prefix}-{number - 1}-{name}", sent)
    data[f"{prefix}-TOTAL_FORMS"] = str(total - 1)
