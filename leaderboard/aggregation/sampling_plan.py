"""What a snapshot leaves for active sampling: the gains of all pairs that may meet, and everybody's share."""

from collections.abc import Sequence

import numpy as np
from django.conf import settings
from django.utils.module_loading import import_string

from battles.prompting.pairing import Candidate, PairWeights
from leaderboard.aggregation import pair_weights
from leaderboard.aggregation.pair_weights import Plan
from leaderboard.counting import method
from leaderboard.models import AggregationRun, SamplingPlan
from leaderboard.rating.board_fit import Board
from leaderboard.rating.bradley_terry import POINTS, Floats
from leaderboard.rating.sampling import pair_gains
from models_registry.models import LanguageModel


def new_plan(models: Sequence[LanguageModel], fit: Board, votes: Floats) -> Plan | None:
    """The gains of all pairs of models that are not retired; None while ARENA_PAIR_WEIGHTS names another rule.

    models: those with votes, in the order of `fit` and of `votes`, n of each pair, symmetric. Active models without
    votes are planned for too: of them most is to be learned.
    """
    if _rule() is not pair_weights.pair_weights:
        return None
    voted = [model.pk for model in models]
    waiting = LanguageModel.objects.filter(status=LanguageModel.Status.ACTIVE).exclude(pk__in=voted)
    everybody = voted + list(waiting.order_by("pk").values_list("pk", flat=True))
    new = len(everybody) - len(voted)
    gains = pair_gains(
        np.pad(np.nan_to_num((fit.score - method.OFFSET) / POINTS), (0, new)),
        np.pad(votes, (0, new)),
        dispersion=float(fit.phi[0]) if len(fit.phi) else 1.0,
        kappa=method.VIRTUAL_TIES,
    )
    retired = {model.pk for model in models if model.status == LanguageModel.Status.RETIRED}
    stay = [row for row, model in enumerate(everybody) if model not in retired]
    kept = gains[np.ix_(stay, stay)]
    return Plan.of([everybody[row] for row in stay], kept[np.triu_indices(len(stay), 1)].tolist())


def sampling_shares(plan: Plan | None) -> dict[str, float]:
    """{slug: chance of being in the next battle}, of all models that are set up. They add up to 2."""
    models = LanguageModel.objects.configured()
    candidates = [Candidate(model.pk, model.weight) for model in models]
    weighted = _rule()(candidates) if plan is None else pair_weights.weigh(candidates, plan)
    total = sum(weight for *_, weight in weighted)
    share = dict.fromkeys((model.pk for model in models), 0.0)
    for one, other, weight in weighted:
        share[one] += weight / total
        share[other] += weight / total
    return {model.slug: share[model.pk] for model in models}


def store(plan: Plan | None, run: AggregationRun) -> None:
    if plan is not None:
        new = {"run": run, "contestants": list(plan.place), "gains": plan.gains}
        SamplingPlan.objects.update_or_create(scope=run.scope, defaults=new)


def _rule() -> PairWeights:
    rule: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return rule
