"""Pairs that a person gets again with their sides swapped: how steady are the votes?"""

from random import SystemRandom

from accounts.actor import Actor
from battles.models import Position, Side
from models_registry.models import LanguageModel
from reviews.models import Review, ReviewBattle

# A pair comes again after so many others at the earliest.
OTHERS_BETWEEN = 5
_random = SystemRandom()


def draw_repeat(actor: Actor, review: Review, *, last_case: int | None) -> ReviewBattle | None:
    """Return a new battle on a pair that the person has voted on, with the review's chance; None for a new pair.

    last_case: prompt of last time, which does not come twice in a row.
    """
    if not _random.random() < review.repeats_percent / 100:
        return None
    drawn = ReviewBattle.objects.filter(review=review, person=actor.key).order_by("drawn_at", "pk")
    rows = list(drawn.values_list("pk", "repeats", "review_item__case", "battle__vote"))
    repeated = {repeats for _pk, repeats, _case, _vote in rows}
    earlier = rows[: max(0, len(rows) - OTHERS_BETWEEN)]
    again = [
        pk for pk, repeats, case, vote in earlier
        if repeats is None and vote is not None and pk not in repeated and case not in (None, last_case)
    ]  # fmt: skip
    if not again:
        return None
    first = ReviewBattle.objects.get(pk=_random.choice(again))
    return ReviewBattle.objects.create(
        review=review, review_item_id=first.review_item_id, person=actor.key, propensity=first.propensity,
        pair_propensity=first.pair_propensity, repeats=first,
    )  # fmt: skip


def left_model_of_repeat(drawn: ReviewBattle) -> LanguageModel | None:
    """Return the model that was on the right the first time; None for a pair that is no repeat."""
    if drawn.repeats is None:
        return None
    sides = Side.objects.select_related("model")
    return sides.get(battle=drawn.repeats.battle_id, position=Position.RIGHT).model
