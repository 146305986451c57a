"""Simulated campaigns: how often the stop rule decides, rightly or wrongly."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from reviews.statistics.stop_rule import Decision, Floats, Rule, decide_means

PROMPTS = 100


@dataclass(frozen=True)
class CampaignDesign:
    """Campaigns on two models.

    share: of wins of the first, were it not for tastes; each: opinions of a person; taste: standard deviation of
    people's tastes, in logits, of prompts in `prompts`; joining_twice: share of people who join again under another
    name.
    """

    share: float
    each: int
    opinions: int
    taste: float = 0.0
    prompts: float = 0.0
    joining_twice: float = 0.0
    difference: float = 0.1

    @property
    def name(self) -> str:
        return f"{self.each} opinion{'s' * (self.each > 1)} each, tastes {self.taste:g}, δ {self.difference:g}"


EQUAL = [
    CampaignDesign(0.5, each, 2000, taste=taste, prompts=0.5, joining_twice=0.2)
    for each in (1, 20, 50)
    for taste in (0.0, 0.5, 1.0)
]
CLEAR = CampaignDesign(0.6, 1, 800)
CLEAR_IN_CLUSTERS = CampaignDesign(0.6, 20, 4000, taste=0.5, prompts=0.5)


@dataclass(frozen=True)
class Outcome:
    decision: Decision
    opinions: int  # until the decision; of undecided campaigns, all


def campaigns(design: CampaignDesign, *, repetitions: int, seed: int) -> list[Outcome]:
    rng = np.random.default_rng(seed)
    rule = Rule(design.difference)
    outcomes = []
    for _ in range(repetitions):
        means = person_means(rng, design)
        # The rule looks after each person; between, it does not change.
        decision, after = decide_means(rule, means, np.ones(len(means)))
        outcomes.append(Outcome(decision, design.each * (after or len(means))))
    return outcomes


def person_means(rng: np.random.Generator, design: CampaignDesign) -> Floats:
    """Return each joining person's mean opinion, in the order in which they end."""
    joining = design.opinions // design.each
    again = round(joining * design.joining_twice / (1 + design.joining_twice))
    tastes = rng.normal(0, design.taste, joining - again)
    tastes = rng.permutation(np.concatenate([tastes, tastes[:again]]))
    # Each prompt that suits the first model has one that suits the second as much: equal models are equal on these.
    half = rng.normal(0, design.prompts, PROMPTS // 2)
    prompts = np.concatenate([half, -half])
    drawn = prompts[rng.integers(0, PROMPTS, (joining, design.each))]
    chance = expit(logit(design.share) + tastes[:, None] + drawn)
    means: Floats = (rng.random(chance.shape) < chance).mean(axis=1)
    return means
