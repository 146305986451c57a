"""Choice among the allowed candidates: by the newest training, or by weight and price while there is none."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from battles.auto.port import MAX_CANDIDATES_STORED, Alternative, Routed, Target
from routing.deciding.candidates import Candidates, dollars
from routing.deciding.exploration import may_explore
from routing.deciding.query_types import router_labels
from routing.deciding.question import Question
from routing.deciding.router_cache import HeldRouter, held_router
from routing.learning.choosing import Choice, Options, choose
from routing.learning.router import Router, Scores


class Estimate(NamedTuple):
    """Result of a trained router for the allowed candidates, in their order."""

    held: HeldRouter
    scores: Scores
    choice: Choice


def choose_freely(question: Question, *, explores: bool = True) -> Routed:
    """Choose a model, or with `explores` the pair of a battle that teaches the router."""
    held = held_router(question.request.team_id)
    if len(question.allowed.rows) == 1:
        return _only_one(question)
    if held.router is None:
        return _by_weight_and_price(question)
    estimate = _estimate(question, held, held.router)
    if explores and question.may_battle:
        pair = estimate.choice.pair
        if question.request.records:
            may = may_explore(wanted=pair is not None, max_share=question.thresholds.max_explored_share)
        else:
            may = pair is not None
        if pair is not None and may:
            return _battle(question, estimate, pair)
    return _model(question, estimate)


def find_better(question: Question, *, than: int) -> Routed | None:
    """Return the decision for a model that wins clearly more often than the one with this id, or None."""
    held = held_router(question.request.team_id)
    if held.router is None:
        return None
    estimate = _estimate(question, held, held.router)
    choice = estimate.choice
    places = question.allowed.places
    gain = choice.win_chances[places[choice.model]] - choice.win_chances[places[than]]
    if gain <= question.thresholds.stay_margin:
        return None
    return replace(_model(question, estimate), reason="better")


def _estimate(question: Question, held: HeldRouter, router: Router) -> Estimate:
    allowed = question.allowed
    models, rows = [model.pk for model in allowed.models], list(allowed.rows)
    scores = router.scores(models, router_labels(question.labels), question.request.prompts)
    choice = choose(
        Options(models, allowed.table.weights[rows], allowed.costs[rows]),
        scores,
        price=router.price(question.dial),
        best=_best_of(held, allowed),
        # Created anew: processes that fork from one would otherwise share its numbers.
        random=np.random.default_rng(),
        tie_factor=router.tie_factor,
    )
    return Estimate(held, scores, choice)


def _best_of(held: HeldRouter, candidates: Candidates) -> int | None:
    """Return the id of the best candidate on Overall."""
    return next((pk for pk in held.ranking if pk in candidates.places), None)


def _model(question: Question, estimate: Estimate) -> Routed:
    held, choice, allowed = estimate.held, estimate.choice, question.allowed
    order = _order(question, estimate, (choice.model, choice.runner_up))
    alternatives = _alternatives(question, estimate, order)
    chosen = alternatives[0]
    best = _best_of(held, question.candidates)
    cost_best = _cost_of(question, best)
    details: dict[str, float | int | str] = {"win_chance": round(choice.win_chance, 4)}
    if cost_best and best != choice.model and chosen.cost is not None:
        details["price_share"] = round(float(chosen.cost) / cost_best, 4)
    if choice.confidence < question.thresholds.min_confidence:
        reason = "unsure"
    elif best is not None and best not in allowed.places:
        reason = "cap"
    else:
        reason = "best"
    routed = question.routed(Target.MODEL, (chosen.model,), reason, policy=held.policy, confidence=choice.confidence)
    return replace(
        routed,
        details={**routed.details, **details},
        runner_up=None if choice.runner_up is None else alternatives[1].model,
        win_chance=choice.win_chance,
        cost_best=None if cost_best is None else dollars(cost_best),
        alternatives=_with_excluded(alternatives, allowed),
        ranking=tuple(allowed.models[place] for place in order),
    )


def _battle(question: Question, estimate: Estimate, pair: tuple[int, int]) -> Routed:
    held, choice = estimate.held, estimate.choice
    alternatives = _alternatives(question, estimate, _order(question, estimate, pair))
    models = alternatives[0].model, alternatives[1].model
    routed = question.routed(Target.ARENA, models, "explored", policy=held.policy, confidence=choice.confidence)
    cost_best = _cost_of(question, _best_of(held, question.candidates))
    return replace(
        routed,
        propensity=choice.propensity,
        explored=True,
        cost_best=None if cost_best is None else dollars(cost_best),
        alternatives=_with_excluded(alternatives, question.allowed),
    )


def _cost_of(question: Question, model: int | None) -> float | None:
    candidates = question.candidates
    return None if model is None else float(candidates.costs[candidates.rows[candidates.places[model]]])


def _order(question: Question, estimate: Estimate, first: tuple[int | None, ...]) -> list[int]:
    """Return places of the allowed candidates: those of the models in `first`, then the others by utility."""
    in_front = [question.allowed.places[model] for model in first if model is not None]
    by_utility = np.argsort(-estimate.choice.utilities, kind="stable").tolist()
    return [*in_front, *(place for place in by_utility if place not in in_front)]


def _alternatives(question: Question, estimate: Estimate, order: list[int]) -> list[Alternative]:
    """Return those of the allowed candidates that are stored."""
    allowed, choice, scores = question.allowed, estimate.choice, estimate.scores
    return [
        allowed.alternative(
            allowed.rows[number],
            theta=float(scores.theta[number]),
            sd=float(scores.sd[number]),
            win_chance=float(choice.win_chances[number]),
            good_enough=float(choice.good_enoughs[number]),
        )
        for number in order[:MAX_CANDIDATES_STORED]
    ]


def _with_excluded(alternatives: list[Alternative], candidates: Candidates) -> tuple[Alternative, ...]:
    """Add candidates that are out, as many as are stored."""
    return (*alternatives, *candidates.excluded(limit=MAX_CANDIDATES_STORED - len(alternatives)))


def _only_one(question: Question) -> Routed:
    [row] = question.allowed.rows
    alternative = question.allowed.alternative(row)
    routed = question.routed(Target.MODEL, (alternative.model,), "only_one", policy="only one", confidence=1.0)
    return replace(routed, alternatives=_with_excluded([alternative], question.allowed))


def _by_weight_and_price(question: Question) -> Routed:
    """Rank by the sampling weight at dial 1, by the expected cost at dial 0."""
    allowed, dial = question.allowed, question.dial
    rows = list(allowed.rows)
    weights, costs = allowed.table.weights[rows], allowed.costs[rows]
    utilities = dial * weights / weights.max() - (1 - dial) * costs / (costs.max() or 1)
    order = sorted(range(len(rows)), key=lambda number: (-utilities[number], costs[number], rows[number]))
    ranked = [allowed.alternative(rows[number]) for number in order[:MAX_CANDIDATES_STORED]]
    routed = question.routed(Target.MODEL, (ranked[0].model,), "few_votes", policy="weights", confidence=1 / len(rows))
    return replace(
        routed,
        runner_up=ranked[1].model,
        alternatives=_with_excluded(ranked, allowed),
        ranking=tuple(allowed.models[number] for number in order),
    )
