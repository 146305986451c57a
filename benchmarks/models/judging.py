"""Judges, and what they were asked: a judging is a run whose cases are pairs of stored replies, or single ones."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from benchmarks.models.items import RunItem
from benchmarks.models.replies import Reply
from benchmarks.models.runs import Run
from common.db.triggers import refuse_rows
from common.ids import new_public_id
from models_registry.models import LanguageModel

_MODEL_OF_ANOTHER_PLACE = """EXISTS (
        SELECT FROM models_registry_languagemodel AS model
        WHERE model.id = NEW.model_id AND model.team_id IS NOT NULL AND model.team_id IS DISTINCT FROM NEW.team_id
    )"""
_OF_TWO_PLACES = """NOT EXISTS (
        SELECT FROM benchmarks_judge AS judge
        JOIN benchmarks_run AS subject ON subject.team_id IS NOT DISTINCT FROM judge.team_id
        JOIN benchmarks_run AS run ON run.team_id IS NOT DISTINCT FROM judge.team_id AND run.is_judging
        WHERE judge.id = NEW.judge_id AND subject.id = NEW.subject_id AND run.id = NEW.run_id
    )"""
_JUDGEMENT_OF_ANOTHER_PLACE = """EXISTS (
        SELECT FROM benchmarks_reply AS reply
        JOIN benchmarks_judge AS judge ON judge.id = NEW.judge_id
        WHERE reply.id IN (NEW.first_reply_id, NEW.second_reply_id) AND reply.team_id IS DISTINCT FROM judge.team_id
    ) OR NOT EXISTS (
        SELECT FROM benchmarks_judging AS judging
        JOIN benchmarks_runitem AS item ON item.run_id = judging.run_id
        WHERE judging.id = NEW.judging_id AND judging.judge_id = NEW.judge_id AND item.id = NEW.item_id
    )"""


class Judge(models.Model):
    """A model with a rubric. A changed judge is a new row with the next number; its judgements start anew."""

    class Kind(models.TextChoices):
        PAIRWISE = "pairwise", _("compares two answers")
        SCORES = "scores", _("grades each answer")

    class OwnFamily(models.TextChoices):
        """Treatment of answers of models of the judge's own organization."""

        EXCLUDE = "exclude", _("left out")
        FLAG = "flag", _("judged and marked")
        ALLOW = "allow", _("judged like others")

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    # The public id of the judge's first number.
    series = models.CharField(max_length=22)
    number = models.PositiveIntegerField(default=1)
    owner_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="benchmark_judges"
    )
    # The owner, if there is one; owner_user is then who made it.
    team = models.ForeignKey(Team, models.PROTECT, null=True, related_name="benchmark_judges")
    name = models.CharField(max_length=120)
    model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind)
    # benchmarks.judging.rubrics.Rubric.
    rubric = models.JSONField()
    prompt_version = models.CharField(max_length=20)
    # Overrides of the model's own.
    parameters = models.JSONField(default=dict, blank=True)
    own_family = models.CharField(max_length=7, choices=OwnFamily, default=OwnFamily.EXCLUDE)
    # Set for numbers that a newer one replaced, too.
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["series", "number"], name="a_judge_has_each_number_once"),
            models.UniqueConstraint(
                fields=["series"], condition=Q(archived_at=None), name="a_judge_has_one_number_in_use"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_a_judge_is_never_changes",
                fields=[
                    "series", "number", "team", "model", "kind", "rubric", "prompt_version", "parameters", "own_family",
                ],
            ),
            refuse_rows("a_judges_model_is_of_its_place", _MODEL_OF_ANOTHER_PLACE),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.name


class Judging(models.Model):
    """A judge at work on the replies of a run. `run` is the engine's, with the judge's model as its entrant."""

    class Plan(models.TextChoices):
        ALL = "all", _("all pairs")
        BASELINE = "baseline", _("each against the baseline")
        REGULAR = "regular", _("some pairs of each case, drawn evenly")

    class Orders(models.TextChoices):
        BOTH = "both", _("each pair in both orders")
        RANDOM = "random", _("each pair in one random order")

    # A reason in left_out: judgements that were deleted with an earlier run, whose replies the subject reused.
    DELETED = "deleted"

    public_id = models.CharField(max_length=22, unique=True, default=new_public_id, editable=False)
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="judgings")
    # The run that is judged.
    subject = models.ForeignKey(Run, models.PROTECT, related_name="judgings")
    run = models.OneToOneField(Run, models.PROTECT, related_name="judging")
    plan = models.CharField(max_length=8, choices=Plan, default=Plan.ALL)
    # The regular plan's; null for as many as entrants.
    pairs_per_case = models.PositiveSmallIntegerField(null=True)
    orders = models.CharField(max_length=6, choices=Orders, default=Orders.BOTH)
    # Control pairs come first.
    with_card = models.BooleanField(default=False)
    # Control pairs alone.
    is_card = models.BooleanField(default=False)
    # Numbers of replies and pairs that are not judged, by reason.
    left_out = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        triggers = [
            pgtrigger.ReadOnly(name="a_judging_stays_with_its_run", fields=["judge", "subject", "run"]),
            refuse_rows("a_judging_is_of_one_place", _OF_TWO_PLACES),
        ]

    def __str__(self) -> str:
        return f"judging {self.public_id}"


class Judgement(models.Model):
    """One question to a judge. The verdict is the Score of the item."""

    class OwnFamily(models.TextChoices):
        """Reply of the judge's own organization."""

        FIRST = "first", _("the first")
        SECOND = "second", _("the second")
        BOTH = "both", _("both")

    judging = models.ForeignKey(Judging, models.CASCADE, related_name="judgements")
    # The judging's.
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="+", db_index=False)
    item = models.OneToOneField(RunItem, models.CASCADE, related_name="judgement")
    # The order is that shown. A control pair has the reply that it is made from.
    first_reply = models.ForeignKey(Reply, models.PROTECT, related_name="+")
    # Null for a single reply, and for control pairs.
    second_reply = models.ForeignKey(Reply, models.PROTECT, null=True, related_name="+")
    # The entrant that comes later in the run, or the changed text of a control pair, was shown first.
    is_swapped = models.BooleanField(default=False)
    # benchmarks.judging.controls.Control, or "".
    control = models.CharField(max_length=10, blank=True)
    own_family = models.CharField(max_length=6, choices=OwnFamily, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["judge", "first_reply", "second_reply"],
                condition=Q(control="", second_reply__isnull=False),
                name="a_judge_sees_a_pair_once_in_each_order",
            ),
            models.UniqueConstraint(
                fields=["judge", "first_reply"],
                condition=Q(control="", second_reply__isnull=True),
                name="a_judge_grades_a_reply_once",
            ),
            models.CheckConstraint(
                condition=Q(control="") | Q(second_reply__isnull=True), name="a_control_pair_is_made_from_one_reply"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_a_judge_saw_never_changes",
                fields=["judging", "judge", "item", "first_reply", "second_reply", "is_swapped", "control"],
            ),
            refuse_rows("a_judgement_is_of_one_place", _JUDGEMENT_OF_ANOTHER_PLACE),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"judgement {self.pk}"
