"""Rules that suggest a next step, from facts about published results and stored reports."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

# A tag of fewer cases says little by itself, and a smaller difference of scores is hardly worth more of them.
FEW_CASES, NOTABLE_DIFFERENCE = 30, 0.2
# A pair that needs so many times more votes or cases than there are is as good as equal.
MAX_GROWTH = 10
# Fewer votes in a category are no habit yet.
MIN_VOTES = 5
Unit = Literal["votes", "opinions", "cases", "repeats"]
# Words of templates and tags that are near to a built-in category, beside those of its own key.
_NEAR = {
    "coding": "code programming python sql programmation",
    "maths": "math mathematics arithmetic algebra calculation mathématiques arithmétique calcul",
    "creative-writing": "story stories poem poems fiction écriture poème",
    "instruction-following": "instruction instructions consignes",
    "long-prompt": "needle aiguille",
}


@dataclass(frozen=True)
class Contrast:
    """Two contestants that their results do not tell apart yet.

    more: how many more votes or cases, or how many repeats of each case in all, tell them apart if their difference is
    the one seen. so_far: how many there are. cost: of these calls in US dollars, None for votes. source: key of a
    board, or id of a run, which has a template; for opinions, people can be asked about the run.
    """

    first: str
    second: str
    more: int
    unit: Unit
    source: str
    ids: tuple[str, str] = ("", "")
    so_far: int = 0
    cost: float | None = None
    template: str = ""

    @property
    def is_within_reach(self) -> bool:
        return self.unit == "repeats" or self.more <= MAX_GROWTH * self.so_far


@dataclass(frozen=True)
class TagDifference:
    """Scores of a run's best and worst entrant on a tag. cost_per_case: of all entrants, in US dollars."""

    tag: str
    best: str
    worst: str
    difference: float
    cases: int
    source: str
    template: str
    cost_per_case: float = 0.0

    @property
    def missing_cases(self) -> int:
        return FEW_CASES - self.cases

    @property
    def cost(self) -> float:
        return self.missing_cases * self.cost_per_case


@dataclass(frozen=True)
class Candidate:
    """A template that the person has not run yet. tags: number of cases by tag."""

    public_id: str
    name: str
    cases: int
    tags: Mapping[str, int]


@dataclass(frozen=True)
class NearTemplate:
    template: Candidate
    category: str
    votes: int


@dataclass(frozen=True)
class Dominated:
    """Contestants that another one surely beats in both score and price. source: as in Contrast."""

    winner: str
    losers: tuple[str, ...]
    source: str
    ids: tuple[str, str] = ("", "")  # of the winner and the first loser
    template: str = ""


@dataclass(frozen=True)
class UncomparedJudge:
    """Judge of a run, with people on none of its runs. run: its id."""

    judge: str
    name: str
    run: str


Suggestion = Contrast | TagDifference | NearTemplate | Dominated | UncomparedJudge


@dataclass(frozen=True)
class Facts:
    """votes: number of the person's latest votes by category. categories: names by key."""

    contrasts: Sequence[Contrast] = ()
    tags: Sequence[TagDifference] = ()
    candidates: Sequence[Candidate] = ()
    dominated: Sequence[Dominated] = ()
    judges: Sequence[UncomparedJudge] = ()  # those that were asked last come first
    votes: Mapping[str, int] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)


def nearest_contrast(facts: Facts) -> Contrast | None:
    """Return the contrast that needs the fewest more votes or cases."""
    within_reach = [contrast for contrast in facts.contrasts if contrast.is_within_reach]
    return min(within_reach, key=lambda contrast: (contrast.more, contrast.source, contrast.ids), default=None)


def open_tag(facts: Facts) -> TagDifference | None:
    """Return the tag of few cases on which scores differ most; of equal ones that with the fewest cases."""
    notable = [tag for tag in facts.tags if tag.difference >= NOTABLE_DIFFERENCE and tag.cases < FEW_CASES]
    return min(notable, key=lambda tag: (-round(tag.difference, 2), tag.cases, tag.tag), default=None)


def near_template(facts: Facts) -> NearTemplate | None:
    """Return a template for the category in which the person votes most, of those that have one."""
    for category, votes in sorted(facts.votes.items(), key=lambda counted: (-counted[1], counted[0])):
        if votes < MIN_VOTES:
            break
        fitting = [(_fitting_cases(template, category, facts.categories), template) for template in facts.candidates]
        best = max(fitting, key=lambda fit: (fit[0], fit[1].public_id), default=(0, None))
        if best[1] is not None and best[0]:
            return NearTemplate(best[1], facts.categories.get(category, category), votes)
    return None


def dominated_contestants(facts: Facts) -> Dominated | None:
    """Return the winner over most contestants."""
    return max(facts.dominated, key=lambda one: (len(one.losers), one.winner), default=None)


def uncompared_judge(facts: Facts) -> UncomparedJudge | None:
    return next(iter(facts.judges), None)


RULES: tuple[Callable[[Facts], Suggestion | None], ...] = (
    nearest_contrast,
    open_tag,
    near_template,
    dominated_contestants,
    uncompared_judge,
)


def suggest(facts: Facts) -> list[Suggestion]:
    """Return at most one suggestion of each rule."""
    return [suggestion for rule in RULES if (suggestion := rule(facts)) is not None]


def _fitting_cases(template: Candidate, category: str, names: Mapping[str, str]) -> int:
    """Return how many cases have a tag of the category; all of them if the template's name is of it."""
    phrases = [_words(category), _words(names.get(category, ""))]
    near = [{word} for word in _NEAR.get(category, "").split()]

    def fits(text: str) -> bool:
        return any(phrase and phrase <= _words(text) for phrase in (*phrases, *near))

    return template.cases if fits(template.name) else sum(n for tag, n in template.tags.items() if fits(tag))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.casefold()))
