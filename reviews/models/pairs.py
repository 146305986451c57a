"""Pairs of stored answers of a review, the people who are shown them, and who read answers with names."""

from datetime import timedelta

import pgtrigger
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from battles.models import Battle
from benchmarks.models import Case, Run, RunItem
from common.db.triggers import refuse_rows
from models_registry.models import LanguageModel
from reviews.models.reviews import Review

_ANSWERS_OF_ANOTHER_RUN = """NEW.first_item_id IS NOT NULL AND (
        SELECT count(*) FROM benchmarks_runitem AS item JOIN reviews_review AS review ON review.run_id = item.run_id
        WHERE review.id = NEW.review_id AND item.id IN (NEW.first_item_id, NEW.second_item_id)
            AND item.case_id = NEW.case_id AND item.repeat = NEW.repeat
    ) <> 2"""
_BATTLE_OF_ANOTHER_REVIEW = """NEW.battle_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM reviews_review AS review, battles_battle AS battle
        WHERE review.id = NEW.review_id AND battle.id = NEW.battle_id AND battle.series = review.public_id
    )"""
_MODEL_OF_ANOTHER_PAIR = """NEW.gold_model_id IS NOT NULL AND NOT EXISTS (
        SELECT FROM reviews_reviewitem AS item
        WHERE item.id = NEW.review_item_id AND NEW.gold_model_id IN (item.first_model_id, item.second_model_id)
    )"""


class ReviewItem(models.Model):
    """Two answers to one prompt. A deleted run takes its answers along; the counts stay."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="items", db_index=False)
    case = models.ForeignKey(Case, models.SET_NULL, null=True, related_name="+")
    repeat = models.PositiveSmallIntegerField(default=0)
    # Ordered by id.
    first_item = models.ForeignKey(RunItem, models.SET_NULL, null=True, related_name="+")
    second_item = models.ForeignKey(RunItem, models.SET_NULL, null=True, related_name="+")
    first_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False)
    second_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+", db_index=False)
    # Number of the pair of models together with the case's first tag: the draw evens out the opinions of cells.
    cell = models.PositiveIntegerField()
    opinions = models.PositiveIntegerField(default=0)
    # Leases under way that become opinions.
    leases = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["review", "first_item", "second_item"], name="a_review_has_each_pair_of_answers_once"
            ),
            models.CheckConstraint(condition=Q(first_item__lt=F("second_item")), name="answers_of_a_pair_are_in_order"),
        ]
        indexes = [models.Index(fields=["review", "cell"], name="items_of_a_review_by_cell")]
        triggers = [refuse_rows("answers_of_a_pair_are_of_its_run", _ANSWERS_OF_ANOTHER_RUN)]

    def __str__(self) -> str:
        return f"{self.review_id}: {self.first_item_id} {self.second_item_id}"


class ReviewBattle(models.Model):
    """A pair of answers, drawn for a person; the battle follows when it is shown."""

    LEASE = timedelta(minutes=15)

    review = models.ForeignKey(Review, models.CASCADE, related_name="battles", db_index=False)
    review_item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="battles", db_index=False)
    battle = models.OneToOneField(Battle, models.PROTECT, null=True, related_name="review_battle")
    # Actor.key.
    person = models.CharField(max_length=40)
    # Chance of this pair of answers at its draw, and that of its two models.
    propensity = models.FloatField()
    pair_propensity = models.FloatField()
    # While it is held, the item counts the lease.
    lease_until = models.DateTimeField(null=True)
    # The person could read the answers with names before the vote: it counts nowhere.
    knew_answers = models.BooleanField(default=False)
    # The person's earlier battle on the pair, whose sides are swapped here.
    repeats = models.OneToOneField("self", models.CASCADE, null=True, related_name="+")
    # The model of a gold pair, whose answer is shown whole on its side and cut in half on the other one.
    gold_model = models.ForeignKey(LanguageModel, models.PROTECT, null=True, related_name="+", db_index=False)
    # Answers to the review's questions: a step's number or null for each. Null before the vote, and without questions.
    answers = models.JSONField(null=True)
    drawn_at = models.DateTimeField(db_default=Now())
    # Voted, or given up.
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["review_item", "person"], condition=Q(repeats=None), name="a_person_judges_a_pair_once"
            ),
            models.CheckConstraint(
                condition=Q(repeats=None) | Q(lease_until=None), name="a_repeated_pair_is_not_reserved"
            ),
            models.CheckConstraint(
                condition=Q(propensity__gt=0, propensity__lte=1, pair_propensity__gt=0, pair_propensity__lte=1),
                name="a_chance_of_a_pair_is_a_probability",
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(lease_until=None), name="an_ended_battle_has_no_lease"
            ),
            models.CheckConstraint(
                condition=Q(gold_model=None) | Q(repeats__isnull=False), name="a_gold_pair_is_of_a_pair_voted_on_before"
            ),
            models.CheckConstraint(
                condition=Q(answers=None) | Q(ended_at__isnull=False), name="answers_to_questions_come_with_a_vote"
            ),
            models.UniqueConstraint(
                fields=["review", "person"], condition=Q(ended_at=None), name="a_person_has_one_battle_of_a_review_open"
            ),
        ]
        indexes = [
            models.Index(fields=["review", "person", "-drawn_at"], name="battles_of_a_reviewer"),
            models.Index(fields=["lease_until"], name="leases_of_reviews", condition=Q(lease_until__isnull=False)),
            models.Index(fields=["person"], name="battles_of_reviewers"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="a_drawn_pair_never_changes",
                fields=["review", "review_item", "propensity", "pair_propensity", "drawn_at", "repeats"],
            ),
            pgtrigger.ReadOnly(name="a_gold_pair_never_changes", fields=["gold_model"]),
            refuse_rows("a_gold_pairs_model_is_of_its_pair", _MODEL_OF_ANOTHER_PAIR),
            pgtrigger.Protect(
                name="answers_to_questions_never_change",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition("OLD.answers IS NOT NULL AND OLD.answers IS DISTINCT FROM NEW.answers"),
            ),
            refuse_rows("a_reviews_battle_is_of_its_series", _BATTLE_OF_ANOTHER_REVIEW, updated=("battle_id",)),
        ]

    def __str__(self) -> str:
        return f"{self.review_item_id} {self.person}"


class RunReader(models.Model):
    """A person who read answers of a run with names."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="readers", db_index=False)
    # Actor.key.
    person = models.CharField(max_length=40, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "person"], name="a_person_reads_a_run_once")]

    def __str__(self) -> str:
        return f"{self.run_id} {self.person}"
