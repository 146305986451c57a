"""What the arena's own votes and imported ones have in common: how their rows are read, and become a fit's arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.db.models import Model

from leaderboard.counting.columns import Column, Integers
from leaderboard.rating.bradley_terry import Floats, Places
from leaderboard.rating.style_control import FEATURES, style_features

_SIDES = ("left", "right")
# Columns for read_columns, of rows with a `style`.
STYLE = {
    f"{side} {feature}": Column(f"COALESCE((style->'{side}'->>'{feature}')::int8, 0)", 8)
    for side in _SIDES
    for feature in FEATURES
}


def features_of(rows: Mapping[str, Integers]) -> Floats:
    """From the columns of STYLE, shape (rows, features)."""
    return style_features(*(np.stack([rows[f"{side} {feature}"] for feature in FEATURES], axis=1) for side in _SIDES))


def places_of(ids: Integers, among: Sequence[Model]) -> Places:
    """Where in `among` the rows with these ids are."""
    known = [row.pk for row in among]
    place = np.zeros(max(known, default=0) + 1, dtype=np.int64)
    place[known] = np.arange(len(known))
    places: Places = place[ids]
    return places


def ids_in(rows: Mapping[str, Integers]) -> list[int]:
    """Whose rows these are, from the lowest id on."""
    seen: list[int] = np.flatnonzero(np.bincount(np.concatenate([rows["left"], rows["right"]]))).tolist()
    return seen
