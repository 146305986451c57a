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
    """Return the gains of pairs of models that are not retired; None if ARENA_PAIR_WEIGHTS names another rule.

    models: those with votes, in the order of `fit`; active ones without votes are added. votes: symmetric, shape
    (models, models).
    """
    if _pair_weights_rule() is not pair_weights.pair_weights:
        return None
    ids_with_votes = [model.pk for model in models]
    newcomers = LanguageModel.objects.filter(status=LanguageModel.Status.ACTIVE).exclude(pk__in=ids_with_votes)
    ids = ids_with_votes + list(newcomers.order_by("pk").values_list("pk", flat=True))
    new = len(ids) - len(ids_with_votes)
    gains = pair_gains(
        np.pad(np.nan_to_num((fit.score - method.OFFSET) / POINTS), (0, new)),
        np.pad(votes, (0, new)),
        dispersion=float(fit.phi[0]) if len(fit.phi) else 1.0,
        kappa=method.VIRTUAL_TIES,
    )
    retired = {model.pk for model in models if model.status == LanguageModel.Status.RETIRED}
    kept_rows = [row for row, model in enumerate(ids) if model not in retired]
    kept_gains = gains[np.ix_(kept_rows, kept_rows)]
    return Plan.from_gains([ids[row] for row in kept_rows], kept_gains[np.triu_indices(len(kept_rows), 1)].tolist())


def sampling_shares(plan: Plan | None) -> dict[str, float]:
    """Return {slug: probability of being in the next battle} of all configured models; the sum is 2."""
    models = LanguageModel.objects.with_provider_set_up()
    candidates = [Candidate(model.pk, model.weight) for model in models]
    weights = _pair_weights_rule()(candidates) if plan is None else pair_weights.weigh_pairs(candidates, plan)
    total = sum(weight for *_, weight in weights)
    shares = dict.fromkeys((model.pk for model in models), 0.0)
    for first, second, weight in weights:
        shares[first] += weight / total
        shares[second] += weight / total
    return {model.slug: shares[model.pk] for model in models}


def store(plan: Plan | None, run: AggregationRun) -> None:
    if plan is not None:
        values = {"run": run, "contestants": list(plan.row_by_id), "gains": plan.gains}
        SamplingPlan.objects.update_or_create(scope=run.scope, defaults=values)


def _pair_weights_rule() -> PairWeights:
    rule: PairWeights = import_string(settings.ARENA_PAIR_WEIGHTS)
    return rule
