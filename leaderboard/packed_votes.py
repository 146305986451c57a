"""What the arena's own votes and imported ones have in common: how their rows are read, and become a fit's arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from django.db.models import Model

from leaderboard.packed import ANY, Integers
from leaderboard.rating.bradley_terry import Floats, Places
from leaderboard.rating.style_control import FEATURES, style_features

_SIDES = ("left", "right")
# Columns for read_packed, of rows with a `style`.
STYLE = {
    f"{side} {feature}": (f"COALESCE((style->'{side}'->>'{feature}')::int8, 0)", ANY)
    for side in _SIDES
    for feature in FEATURES
}


def features_of(rows: Mapping[str, Integers]) -> Floats:
    """From the columns of STYLE, shape (rows, features)."""
    return style_features(*(np.stack([rows[f"{side} {feature}"] for feature in FEATURES], axis=1) for side in _SIDES))


def places_of(ids: Integers, among: Sequence[Model]) -> Places:
    """Where in `among` the rows with these ids are."""
    known = np.array([row.pk for row in among], dtype=np.int64)
    order = np.argsort(known)
    places: Places = order[np.searchsorted(known, ids, sorter=order)]
    return places
