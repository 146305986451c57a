"""Pairs that a person gets again, to see how steady and careful votes are; they count nowhere.

A repeat has its sides swapped. A gold pair is one of the answers beside the same one cut in half.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import SystemRandom

from django.db import transaction

from accounts.actor import Actor
from battles.actions.stored_battles import StoredAnswer, StoredTurn
from battles.models import Answer, Position, Side
from benchmarks.judging.controls import MIN_CHARACTERS_TO_HALVE, halved
from models_registry.models import LanguageModel
from reviews.models import Review, ReviewBattle, ReviewItem

# A pair comes again after so many others at the earliest.
OTHERS_BETWEEN = 5
_random = SystemRandom()


def draw_repeat(actor: Actor, review: Review, *, last_case: int | None) -> ReviewBattle | None:
    """Return a new battle on a pair that the person has voted on, with the review's chances; None for a new pair.

    last_case: prompt of last time, which does not come twice in a row.
    """
    chance = 100 * _random.random()
    if chance >= review.repeats_percent + review.gold_percent:
        return None
    again = _earlier_battles(actor, review, last_case)
    if not again:
        return None
    first = ReviewBattle.objects.select_related("battle", "review_item").get(pk=_random.choice(again))
    gold_model = None
    if chance >= review.repeats_percent:
        gold_model = _model_to_halve(first)
        if gold_model is None:
            return None
    with transaction.atomic():
        return ReviewBattle.objects.create(
            review=review, review_item_id=first.review_item_id, person=actor.key, propensity=first.propensity,
            pair_propensity=first.pair_propensity, repeats=first, gold_model_id=gold_model,
        )  # fmt: skip


def _earlier_battles(actor: Actor, review: Review, last_case: int | None) -> list[int]:
    """Return ids of battles that can come again."""
    drawn = ReviewBattle.objects.filter(review=review, person=actor.key).order_by("drawn_at", "pk")
    rows = list(drawn.values_list("pk", "repeats", "review_item__case", "battle__vote"))
    repeated = {repeats for _pk, repeats, _case, _vote in rows}
    earlier = rows[: max(0, len(rows) - OTHERS_BETWEEN)]
    return [
        pk for pk, repeats, case, vote in earlier
        if repeats is None and vote is not None and pk not in repeated and case not in (None, last_case)
    ]  # fmt: skip


def _model_to_halve(first: ReviewBattle) -> int | None:
    """Return None if both answers are short, of which half can be as good."""
    answers = Answer.objects.filter(turn__battle=first.battle).order_by("turn__index")
    last = dict(answers.values_list("side__model", "text"))
    fitting = [model for model, text in last.items() if len(text.strip()) >= MIN_CHARACTERS_TO_HALVE]
    return _random.choice(fitting) if fitting else None


def gold_turns(item: ReviewItem, gold_model: int, turns: Sequence[StoredTurn]) -> list[StoredTurn]:
    """turns: with the answers of both models."""
    whole = 0 if item.first_model_id == gold_model else 1
    shown = [replace(turn, answers=(turn.answers[whole], turn.answers[whole])) for turn in turns]
    answer = shown[-1].answers[whole]
    half = StoredAnswer(text=halved(answer.text), call=answer.call)
    shown[-1] = replace(shown[-1], answers=(answer, half) if whole == 0 else (half, answer))
    return shown


def left_model_of_repeat(drawn: ReviewBattle) -> LanguageModel | None:
    """Return the model that was on the right the first time; None for a pair that is no repeat."""
    if drawn.repeats is None or drawn.gold_model_id is not None:
        return None
    sides = Side.objects.select_related("model")
    return sides.get(battle=drawn.repeats.battle_id, position=Position.RIGHT).model
