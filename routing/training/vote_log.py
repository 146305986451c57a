from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from accounts.models import Team
from battles.models import Battle, Turn, Vote, VoteQuerySet
from battles.models.categories import TEAM_MARK
from battles.text.labels import Labels
from routing.deciding.query_types import router_labels
from routing.learning.grounded import OUTCOMES, Floats
from routing.learning.votes import TrainingVotes, feature_matrix, label_matrix

# The newest; more make no better router, and take memory and time.
MAX_VOTES = 100_000
# The same in a team: each team is trained alone.
MAX_VOTES_IN_TEAM = 20_000
_BATCH = 2_000


class VoteRow(NamedTuple):
    order: int
    battle: int
    left: int
    right: int
    choice: str
    voter: str
    prompt_digest: str
    categories: Sequence[str]
    language: str
    propensity: float
    origin: str
    team_categories: Sequence[str] | None


@dataclass(frozen=True)
class VoteLog:
    """labels, prompts: of each vote. propensity: probability of its pair; is_drawn: false if auto mode chose it."""

    votes: TrainingVotes
    labels: list[list[str]]
    prompts: list[list[str]]
    order: NDArray[np.int64]
    propensity: Floats
    is_drawn: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.votes)

    @property
    def until(self) -> int:
        return int(self.order.max(initial=0))


def trainable_votes(team_id: int | None = None) -> VoteQuerySet:
    """Filter to counted blind votes whose prompts were neither deleted nor hidden: the site's, and the team's own."""
    places = Q(team=None) if _uses_votes_of_site(team_id) else Q(pk__in=[])
    if team_id is not None:
        places |= Q(team=team_id)
    visible = Q(battle__hidden_at=None, battle__session__discarded_at=None)
    return Vote.objects.blind().filter(places, visible, excluded_reason="", order__isnull=False)


def _uses_votes_of_site(team_id: int | None) -> bool:
    return team_id is None or Team.objects.filter(pk=team_id, uses_site_models=True).exists()


def read_votes(team_id: int | None = None) -> VoteLog:
    """Read the newest votes, oldest first. team_id: of a team, whose own are read beside the site's."""
    votes, most = trainable_votes(team_id), MAX_VOTES if team_id is None else MAX_VOTES_IN_TEAM
    columns = (
        "order", "battle_id", "model_left_id", "model_right_id", "choice", "voter", "prompt_digest", "categories",
        "language", "battle__propensity", "origin", "team_categories",
    )  # fmt: skip
    rows = [VoteRow(*row) for row in votes.order_by("-order").values_list(*columns)[:most]]
    rows.reverse()
    prompts: list[list[str]] = []
    features = feature_matrix(_remember(_prompts_of(row.battle for row in rows), prompts))
    models = sorted({model for row in rows for model in (row.left, row.right)})
    number = {model: place for place, model in enumerate(models)}
    labels = [router_labels(_labels(row)) for row in rows]
    names, matrix = label_matrix(labels)
    training = TrainingVotes(
        models=tuple(models),
        left=_numbers(number[row.left] for row in rows),
        right=_numbers(number[row.right] for row in rows),
        outcome=_numbers(OUTCOMES.index(row.choice) for row in rows),
        voter=_equal_numbers(row.voter or f"vote {row.order}" for row in rows),
        prompt=_equal_numbers(row.prompt_digest or f"vote {row.order}" for row in rows),
        label_names=names,
        labels=matrix,
        features=features,
    )
    return VoteLog(
        training,
        labels,
        prompts,
        _numbers(row.order for row in rows),
        np.array([row.propensity for row in rows], dtype=np.float64),
        np.array([row.origin == Battle.Origin.DRAW for row in rows], dtype=np.bool_),
    )


def _labels(row: VoteRow) -> Labels:
    own = [f"{TEAM_MARK}{slug}" for slug in row.team_categories or ()]
    return Labels((*row.categories, *own), row.language)


def _prompts_of(battles: Iterable[int]) -> Iterator[list[str]]:
    """Yield the judged prompts of each battle, in the order of the battles."""
    ids = list(battles)
    for begin in range(0, len(ids), _BATCH):
        batch = ids[begin : begin + _BATCH]
        prompts: dict[int, list[str]] = {battle: [] for battle in batch}
        turns = Turn.objects.filter(battle__in=batch, after_vote=False).order_by("battle_id", "index")
        for battle, prompt in turns.values_list("battle_id", "prompt"):
            prompts[battle].append(prompt)
        yield from (prompts[battle] for battle in batch)


def _remember(prompts: Iterable[list[str]], remembered: list[list[str]]) -> Iterator[list[str]]:
    for texts in prompts:
        remembered.append(texts)
        yield texts


def _numbers(values: Iterable[int]) -> NDArray[np.int64]:
    return np.fromiter(values, dtype=np.int64)


def _equal_numbers(values: Iterable[str]) -> NDArray[np.int64]:
    """Return equal numbers for equal values."""
    seen: dict[str, int] = {}
    return _numbers(seen.setdefault(value, len(seen)) for value in values)
