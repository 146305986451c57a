from decimal import Decimal

from django.utils.translation import gettext as _
from rest_framework import serializers

from benchmarks.models import Run
from common.api.fields import ChoiceField
from common.payload_types import JsonObject
from models_registry.models import LanguageModel
from reviews.actions.own_prompts import MAX_LENGTH, MAX_PROMPTS
from reviews.models import DecisionReport, Review, Reviewer
from reviews.questions import MAX_QUESTIONS, MAX_STEP, MAX_STEPS, MAX_TEXT


class NewQuestionSerializer(serializers.Serializer[None]):
    """steps: names of 2 to 5 answers. compares: they lead from answer A to answer B."""

    text = serializers.CharField(max_length=MAX_TEXT)
    steps = serializers.ListField(child=serializers.CharField(max_length=MAX_STEP), max_length=MAX_STEPS)
    compares = serializers.BooleanField(default=True)


class ReviewTermsSerializer(serializers.Serializer[None]):
    """most_per_person, opens_at, closes_at: null for none. expected_people: needed for `link` and `codes`.

    cases: null for all.
    stop_share: 60 for 60 : 40, null for no stop rule. contrasts: slugs of two models each; baseline: of one.
    """

    title = serializers.CharField(max_length=Review.MAX_TITLE, required=False)
    instructions = serializers.CharField(max_length=Review.MAX_INSTRUCTIONS, allow_blank=True, required=False)
    audience = ChoiceField(choices=Review.Audience.choices, required=False)
    asks_for = ChoiceField(choices=Review.AsksFor.choices, required=False)
    plan = ChoiceField(choices=Review.Plan.choices, required=False)
    cases = serializers.IntegerField(min_value=1, max_value=Review.MAX_ITEMS, allow_null=True, required=False)
    opinions_per_item = serializers.IntegerField(min_value=1, max_value=Review.MAX_OPINIONS, required=False)
    most_per_person = serializers.IntegerField(min_value=1, max_value=Review.MAX_ITEMS, allow_null=True, required=False)
    takes_ties = serializers.BooleanField(required=False)
    takes_both_bad = serializers.BooleanField(required=False)
    names_after_vote = serializers.BooleanField(required=False)
    hides_results = serializers.BooleanField(required=False)
    expected_people = serializers.IntegerField(
        min_value=1, max_value=Review.MAX_PEOPLE, allow_null=True, required=False
    )
    repeats_percent = serializers.IntegerField(min_value=0, max_value=Review.MAX_REPEATS_PERCENT, required=False)
    gold_percent = serializers.IntegerField(min_value=0, max_value=Review.MAX_GOLD_PERCENT, required=False)
    least_seconds = serializers.IntegerField(min_value=0, max_value=Review.MAX_LEAST_SECONDS, required=False)
    stop_share = serializers.IntegerField(
        min_value=Review.MIN_STOP_SHARE, max_value=Review.MAX_STOP_SHARE, allow_null=True, required=False
    )
    stop_level = serializers.IntegerField(min_value=1, max_value=Review.MAX_STOP_LEVEL, required=False)
    contrasts = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(max_length=120), min_length=2, max_length=2),
        max_length=Review.MAX_CONTRASTS, required=False,
    )  # fmt: skip
    baseline = serializers.CharField(max_length=120, allow_blank=True, required=False)
    questions = serializers.ListField(child=NewQuestionSerializer(), max_length=MAX_QUESTIONS, required=False)
    opens_at = serializers.DateTimeField(allow_null=True, required=False)
    closes_at = serializers.DateTimeField(allow_null=True, required=False)


class NewReviewSerializer(ReviewTermsSerializer):
    """run: one of yours, or of a team in which you may change it. open: at once, else it is a draft.

    Without a run: `prompts` that `models` answer first. team, budget, reuse_days: of the run that asks them; the
    review opens when it is done.
    """

    run = serializers.CharField(max_length=40, required=False)
    open = serializers.BooleanField(default=False)
    prompts = serializers.ListField(
        child=serializers.CharField(max_length=MAX_LENGTH), min_length=1, max_length=MAX_PROMPTS, required=False
    )
    models = serializers.ListField(
        child=serializers.CharField(max_length=LanguageModel.MAX_NAME), min_length=1, max_length=Run.MAX_ENTRANTS,
        required=False,
    )  # fmt: skip
    team = serializers.CharField(max_length=80, allow_blank=True, required=False)
    budget = serializers.DecimalField(
        max_digits=14, decimal_places=8, min_value=Decimal("0.00000001"), allow_null=True, default=None
    )
    reuse_days = serializers.IntegerField(min_value=1, max_value=Run.MAX_REUSE_DAYS, allow_null=True, default=None)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if ("run" in attrs) == ("prompts" in attrs) or ("prompts" in attrs) != ("models" in attrs):
            raise serializers.ValidationError(_("Name a run, or prompts and models."))
        return attrs


class NewReviewGradeSerializer(serializers.Serializer[None]):
    """answer: as of `next/`. value: 0 or 1 for incorrect or correct, 1 to 5 stars."""

    answer = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    value = serializers.IntegerField(min_value=0, max_value=5)


class JoinSerializer(serializers.Serializer[None]):
    code = serializers.CharField(max_length=20)
    nickname = serializers.CharField(max_length=Reviewer.MAX_NICKNAME, allow_blank=True, default="")


class SetAsideSerializer(serializers.Serializer[None]):
    because = serializers.CharField(max_length=Reviewer.MAX_BECAUSE, allow_blank=True, default="")


class NewReportSerializer(serializers.Serializer[None]):
    """A run's or review's id, or a board; team: the address of the board's team."""

    question = serializers.CharField(max_length=DecisionReport.MAX_QUESTION)
    run = serializers.CharField(max_length=22, required=False)
    review = serializers.CharField(max_length=22, required=False)
    board = serializers.CharField(max_length=80, required=False)
    team = serializers.CharField(max_length=80, allow_blank=True, required=False)

    def validate(self, attrs: JsonObject) -> JsonObject:
        if len(attrs.keys() & {"run", "review", "board"}) != 1:
            raise serializers.ValidationError(_("Name a run, a review or a board."))
        return attrs


class ReadersSerializer(serializers.Serializer[None]):
    readers = serializers.ChoiceField(choices=["none", "names", "numbers"])
