"""Average of one model over templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Cell:
    """Mean of one model on one template with its 95 % interval."""

    mean: float
    se: float
    low: float
    high: float


def average(cells: Sequence[Cell]) -> Cell:
    """Return the mean of templates with equal weights; se = √Σse²/B."""
    # Each template's variance is recovered from its own bounds, so that 0 % and 100 % widen the average's.
    # Source: Zou, Donner (2008).
    number = len(cells)
    mean = sum(cell.mean for cell in cells) / number
    below = sqrt(sum((cell.mean - cell.low) ** 2 for cell in cells)) / number
    above = sqrt(sum((cell.high - cell.mean) ** 2 for cell in cells)) / number
    se = sqrt(sum(cell.se**2 for cell in cells)) / number
    return Cell(mean, se, mean - below, mean + above)


def averages(heat_map: dict[str, dict[str, Cell]]) -> dict[str, Cell]:
    """Return averages of the models that have all templates. heat_map: model to template to cell."""
    templates = {template for row in heat_map.values() for template in row}
    return {
        model: average([row[template] for template in sorted(templates)])
        for model, row in sorted(heat_map.items())
        if row and templates <= row.keys()
    }
