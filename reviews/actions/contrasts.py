"""Contrasts of a review's stop rule."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from common.errors import InvalidInput
from models_registry.models import LanguageModel
from reviews.models import Contrast, Review, Reviewer, ReviewItem
from reviews.sql import read_sql
from reviews.statistics.stop_rule import Person, Rule, decide


def models_of(review: Review) -> list[LanguageModel]:
    """Return the models of the run, in its order."""
    if review.run is None:
        return []
    entrants = review.run.entrants.filter(model__isnull=False).select_related("model__team").order_by("position")
    return list({entrant.model_id: entrant.model for entrant in entrants if entrant.model is not None}.values())


def find_pairs(
    review: Review, named: Iterable[Sequence[str]], baseline: str = ""
) -> list[tuple[LanguageModel, LanguageModel]]:
    """Return the named pairs, and the others with the baseline. Raises InvalidInput."""
    models = {model.full_slug: model for model in models_of(review)}
    wanted = [(first, second) for first, second in named]
    if baseline:
        wanted += [(name, baseline) for name in models if name != baseline]
    pairs: dict[frozenset[str], tuple[LanguageModel, LanguageModel]] = {}
    for first, second in wanted:
        if first == second or first not in models or second not in models:
            sentence = _("Name two different models of the run, not %(first)s and %(second)s.")
            raise InvalidInput(fields={"contrasts": [sentence % {"first": first, "second": second}]})
        pairs.setdefault(frozenset((first, second)), (models[first], models[second]))
    if len(pairs) > Review.MAX_CONTRASTS:
        sentence = _("A stop rule decides about at most %(most)s pairs of models.")
        raise InvalidInput(fields={"contrasts": [sentence % {"most": Review.MAX_CONTRASTS}]})
    return list(pairs.values())


def replace_contrasts(review: Review, pairs: Iterable[tuple[LanguageModel, LanguageModel]]) -> None:
    review.contrasts.all().delete()
    Contrast.objects.bulk_create(
        [Contrast(review=review, first_model=first, second_model=second) for first, second in pairs]
    )


def read_contrasts(review: Review) -> list[Contrast]:
    return list(Contrast.objects.with_models().filter(review=review)) if review.has_stop_rule else []


def names_of(contrasts: Iterable[Contrast]) -> list[list[str]]:
    return [[contrast.first_model.full_slug, contrast.second_model.full_slug] for contrast in contrasts]


def require_items(review: Review) -> None:
    """Raises InvalidInput for a contrast without pairs of answers."""
    shown = ReviewItem.objects.filter(review=review).values_list("first_model", "second_model").distinct()
    pairs = {(min(pair), max(pair)) for pair in shown}
    for contrast in read_contrasts(review):
        if contrast.pair not in pairs:
            sentence = _("No question of the review has a pair of answers of %(first)s and %(second)s for the rule.")
            names = {"first": contrast.first_model.name, "second": contrast.second_model.name}
            raise InvalidInput(fields={"contrasts": [sentence % names]})


def decided_pairs(review: Review) -> set[tuple[int, int]]:
    """Return ids of models in ascending order, whose items are drawn no longer."""
    if not review.has_stop_rule:
        return set()
    decided = Contrast.objects.filter(review=review).exclude(decision=Contrast.Decision.NOT_DECIDED)
    return {contrast.pair for contrast in decided}


def items_of(pairs: Collection[tuple[int, int]]) -> Q:
    """Return the condition that is true of items of these pairs."""
    condition = Q(pk__in=[])
    for pair in pairs:
        condition |= Q(first_model__in=pair, second_model__in=pair)
    return condition


def evaluate(review: Review) -> bool:
    """Decide each contrast anew; return whether all are decided. Needs the review's lock."""
    if review.stop_share is None:
        return False
    contrasts = list(review.contrasts.order_by("pk"))
    rule = Rule(review.stop_share / 100 - 0.5, review.stop_level / 100, len(contrasts))
    people = people_who_ended(review)
    for contrast in contrasts:
        state = decide(rule, people[contrast.pk])
        contrast.decision, contrast.decided_after = Contrast.Decision(state.decision.value), state.decided_after
        contrast.people, contrast.opinions = state.people, state.opinions
        contrast.mean = state.mean if state.people else None
        contrast.low, contrast.high = state.low, state.high
    Contrast.objects.bulk_update(contrasts, ["decision", "decided_after", "people", "opinions", "mean", "low", "high"])
    return all(contrast.is_decided for contrast in contrasts)


def end_people(people: QuerySet[Reviewer]) -> int:
    """Note the end of people under way; return their number. Needs the review's lock."""
    under_way = people.filter(away_at__isnull=False).order_by("pk")
    # A vote locks its person: one that comes now waits, and is later than the end.
    found = list(under_way.select_for_update().values_list("pk", flat=True))
    return Reviewer.objects.filter(pk__in=found).update(away_at=None, ended_at=timezone.now())


def forget_people(review: Review) -> None:
    review.reviewers.filter(away_at__isnull=False).update(away_at=None)


def people_who_ended(review: Review) -> dict[int, list[Person]]:
    """Return people with their opinions, by id of the contrast."""
    people: dict[int, list[Person]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(read_sql("opinions_on_contrasts.sql"), {"review": review.pk})
        for contrast, person, ended_at, opinions in cursor:
            # Each person weighs the same, however many opinions they give: nothing of it depends on their first.
            people[contrast].append(Person(person, ended_at, opinions))
    return people
