"""Averages of models over templates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class TemplateMean:
    """Mean of one model on one template with its 95 % interval."""

    mean: float
    se: float
    low: float
    high: float


def average(means: Sequence[TemplateMean]) -> TemplateMean:
    """Return the mean of templates with equal weights; se = √Σse²/B."""
    # Each template's variance is recovered from its own bounds, so that 0 % and 100 % widen the average's.
    # Source: Zou, Donner (2008).
    number = len(means)
    mean = sum(template.mean for template in means) / number
    below = sqrt(sum((template.mean - template.low) ** 2 for template in means)) / number
    above = sqrt(sum((template.high - template.mean) ** 2 for template in means)) / number
    se = sqrt(sum(template.se**2 for template in means)) / number
    return TemplateMean(mean, se, mean - below, mean + above)


def averages(by_model: dict[str, dict[str, TemplateMean]]) -> dict[str, TemplateMean]:
    """Return averages of the models that have all templates. by_model: means by template."""
    templates = {template for means in by_model.values() for template in means}
    return {
        model: average([means[template] for template in sorted(templates)])
        for model, means in sorted(by_model.items())
        if means and templates <= means.keys()
    }
