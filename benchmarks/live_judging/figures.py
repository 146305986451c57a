"""Figures of the judge of voted battles: its scores, and how often it agrees with the votes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Q, QuerySet

from battles.models import Vote
from benchmarks.live_judging.drawing import OF_THE_BOARD
from benchmarks.models import Judge, LiveDraw, LiveJudge, LiveJudgement
from benchmarks.preparation.judged_replies import is_of_family
from common.cache import RefreshedCached
from common.db.execution import is_migrated
from models_registry.models import LanguageModel

if TYPE_CHECKING:
    from benchmarks.statistics.clusters import Floats, Indices

_CACHE_S = 300.0
# The judge's scores are those of a random part if it missed no more than this share.
MAX_MISSED = 0.05
# Judged battles of a model with a score, and of an agreement.
MIN_BATTLES = 10
_LeftOut = LiveDraw.LeftOut


class Figure(NamedTuple):
    value: float
    low: float
    high: float
    n: int  # battles


@dataclass(frozen=True)
class LiveFigures:
    """The judge on Overall; numbers are of voted battles that count there.

    left_out alone has battles of the own family. outside: had no chance to be drawn, or not yet. scores: points,
    mean 0; empty unless is_random.
    """

    judge: Judge
    share: float  # percent
    votes: int
    outside: int
    drawn: int
    judged: int
    waiting: int
    failed: int
    left_out: dict[str, int]
    agreement: Figure | None
    flips: Figure | None
    # Keys are slugs of models.
    scores: dict[str, Figure] = field(default_factory=dict)

    @property
    def is_random(self) -> bool:
        missed = self.drawn - self.judged
        return self.judged > 0 and self.outside <= MAX_MISSED * self.votes and missed <= MAX_MISSED * self.drawn


class JudgedBattle(NamedTuple):
    """outcomes: of the verdicts in both orders, seen from the left."""

    share: float
    left: int
    right: int
    choice: str
    voter: str
    outcomes: Sequence[float]


def read_figures() -> LiveFigures | None:
    """Return the figures of the judge that is on, or None."""
    if not is_migrated(LiveJudge):
        return None
    live = LiveJudge.objects.filter(is_on=True).select_related("judge__model").first()
    return None if live is None else figures_of(live)


def figures_of(live: LiveJudge) -> LiveFigures:
    model = live.judge.model
    of_family = [other.pk for other in LanguageModel.objects.all() if is_of_family(model, other)]
    counted = Vote.objects.filter(OF_THE_BOARD, excluded_reason="", order__isnull=False)
    others = counted.exclude(Q(model_left__in=of_family) | Q(model_right__in=of_family))
    numbers = others.aggregate(
        votes=Count("pk"),
        outside=Count("pk", filter=Q(order__lte=live.first_order) | Q(order__gt=live.last_order)),
    )
    draws = live.draws.filter(battle__vote__in=counted)
    left_out = dict(draws.exclude(left_out="").order_by("left_out").values_list("left_out").annotate(n=Count("pk")))
    drawn = draws.exclude(left_out=_LeftOut.OWN_FAMILY).count()
    battles = judged_battles(draws)
    judgements = LiveJudgement.objects.filter(draw__in=draws).order_by()
    failed = judgements.filter(state__in=[LiveJudgement.State.FAILED, LiveJudgement.State.UNPARSED])
    waiting = judgements.filter(state__in=[LiveJudgement.State.QUEUED, LiveJudgement.State.ASKING])
    figures = LiveFigures(
        judge=live.judge, share=float(live.share), votes=numbers["votes"], outside=numbers["outside"], drawn=drawn,
        judged=len(battles), failed=failed.values("draw").distinct().count(),
        waiting=waiting.values("draw").distinct().count(), left_out=left_out,
        agreement=None, flips=None,
    )  # fmt: skip
    return _with_statistics(figures, battles) if battles else figures


def judged_battles(draws: QuerySet[LiveDraw]) -> list[JudgedBattle]:
    """Return the battles with a verdict in each order."""
    verdicts: dict[int, list[float]] = {}
    done = LiveJudgement.objects.filter(draw__in=draws, state=LiveJudgement.State.DONE, outcome__isnull=False)
    for draw, outcome in done.order_by("draw", "is_swapped").values_list("draw", "outcome"):
        verdicts.setdefault(draw, []).append(float(outcome or 0))
    rows = draws.order_by("pk").values_list(
        "pk", "share", "battle__vote__model_left", "battle__vote__model_right", "battle__vote__choice",
        "battle__vote__voter",
    )  # fmt: skip
    return [
        JudgedBattle(float(share), left, right, choice, voter, verdicts[pk])
        for pk, share, left, right, choice, voter in rows
        if len(verdicts.get(pk, ())) == 2
    ]


def _with_statistics(figures: LiveFigures, battles: Sequence[JudgedBattle]) -> LiveFigures:
    # These are imported late: they import scipy, which few processes need.
    import numpy as np

    from benchmarks.statistics.agreement import LEFT, RIGHT, TIE, Opinions, pairs_between, raw_agreement
    from benchmarks.statistics.calibration import Judged, judge_board

    choices: dict[str, int] = {Vote.Choice.LEFT: LEFT, Vote.Choice.RIGHT: RIGHT}
    outcomes = np.array([battle.outcomes for battle in battles])
    mean = outcomes.mean(axis=1)
    voted = np.array([choices.get(battle.choice, TIE) for battle in battles])
    voters = np.unique(np.array([battle.voter for battle in battles]), return_inverse=True)[1]
    unit, one = np.arange(len(battles)), np.zeros(len(battles), dtype=np.int64)

    def agreed(first: "Indices", second: "Indices") -> Figure | None:
        pairs = pairs_between(Opinions(unit, one, first, voters), Opinions(unit, one, second, voters))
        found = raw_agreement(pairs)
        if found.n < MIN_BATTLES or np.isnan(found.value):
            return None
        return Figure(found.value, found.low, found.high, found.n)

    def winner(values: "Floats") -> "Indices":
        return np.where(values > 0.5, LEFT, np.where(values < 0.5, RIGHT, TIE))

    same = agreed(winner(outcomes[:, 0]), winner(outcomes[:, 1]))
    figures = replace(
        figures, agreement=agreed(winner(mean), voted),
        flips=None if same is None else Figure(1 - same.value, 1 - same.high, 1 - same.low, same.n),
    )  # fmt: skip
    if not figures.is_random:
        return figures
    models, places = np.unique([(battle.left, battle.right) for battle in battles], return_inverse=True)
    first, second = places.reshape(-1, 2).T
    weight = 1 / np.array([battle.share for battle in battles])
    board = judge_board(Judged(first, second, mean, voters), weight, len(models))
    numbers = np.bincount(places.ravel(), minlength=len(models))
    slugs = dict(LanguageModel.objects.filter(pk__in=models.tolist()).values_list("pk", "slug"))
    scores = {
        slugs[pk]: Figure(
            float(board.value[place]), float(board.low[place]), float(board.high[place]), int(numbers[place])
        )
        for place, pk in enumerate(models.tolist())
        if numbers[place] >= MIN_BATTLES
    }
    return replace(figures, scores=scores)


live_figures = RefreshedCached(read_figures, ttl_s=_CACHE_S)
