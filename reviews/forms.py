from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import combinations
from typing import cast

from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Run
from common.errors import ArenaError
from models_registry.models import LanguageModel
from reviews.actions.contrasts import models_of, read_contrasts
from reviews.actions.lifecycle import ReviewTerms, changeable
from reviews.actions.own_prompts import MAX_LENGTH, split_prompts
from reviews.models import Review, Reviewer


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M")


BETWEEN = "|"  # stands in no slug


class ShareField(forms.CharField):
    """A share in percent, as “60 : 40”, “60” or “60 %”; None if empty."""

    def clean(self, value: object) -> int | None:
        typed = "".join(super().clean(value).split()).removesuffix("%")
        if not typed:
            return None
        first, colon, second = typed.partition(":")
        if not (first.isdecimal() and len(first) <= 2 and (not colon or second == str(100 - int(first)))):
            raise ValidationError(_("Write a share as 60 : 40 or as 60."))
        share = int(first)
        if not Review.MIN_STOP_SHARE <= share <= Review.MAX_STOP_SHARE:
            sentence = _("Choose a share from %(least)s to %(most)s.")
            raise ValidationError(sentence % {"least": Review.MIN_STOP_SHARE, "most": Review.MAX_STOP_SHARE})
        return share

    def prepare_value(self, value: object) -> object:
        return f"{value} : {100 - value}" if isinstance(value, int) else value


class PairsField(forms.MultipleChoiceField):
    def clean(self, value: object) -> list[list[str]]:
        return [str(pair).split(BETWEEN) for pair in cast(Sequence[str], super().clean(value))]


def stop_rule_fields(review: Review) -> tuple[dict[str, forms.Field], dict[str, object]]:
    """Return fields and initial values."""
    models = models_of(review)
    if len(models) < 2:
        return {}, {}
    stored = [(one.first_model, one.second_model) for one in (read_contrasts(review) if review.pk else [])]
    ordered = {frozenset((first.pk, second.pk)): (first, second) for first, second in stored}
    pairs = [
        ordered.get(frozenset((first.pk, second.pk)), (first, second)) for first, second in combinations(models, 2)
    ]
    fields: dict[str, forms.Field] = {
        "stop_share": ShareField(
            label=_("Stop rule: the difference that matters"), required=False, max_length=12,
            help_text=_(
                "60 : 40, for example. The review then ends as soon as each pair of models below is decided: better, "
                "worse, or equal within this difference. Empty: no stop rule."
            ),
        ),
        "stop_level": forms.IntegerField(
            label=_("Chance of a wrong decision, of all pairs together (%)"), required=False, min_value=1,
            max_value=Review.MAX_STOP_LEVEL,
        ),
        "baseline": forms.ChoiceField(
            label=_("Compare all models with"), required=False,
            choices=[("", _("none of them")), *((model.full_slug, model.name) for model in models)],
        ),
        "contrasts": PairsField(
            label=_("Pairs of models that the stop rule decides about"), required=False,
            widget=forms.CheckboxSelectMultiple,
            choices=[(_value(pair), f"{pair[0].name} – {pair[1].name}") for pair in pairs],
        ),
    }  # fmt: skip
    chosen = [_value(pair) for pair in stored]
    return fields, {"stop_share": review.stop_share, "stop_level": review.stop_level, "contrasts": chosen}


def _value(pair: tuple[LanguageModel, LanguageModel]) -> str:
    return BETWEEN.join(model.full_slug for model in pair)


class ReviewForm(forms.Form):
    """Terms of a review. Without a review: of a new one."""

    # These have no effect where people grade single answers.
    OF_PAIRS = ("plan", "repeats_percent", "takes_ties", "takes_both_bad", "names_after_vote")

    title = forms.CharField(label=_("Title"), max_length=120)
    instructions = forms.CharField(
        label=_("Instructions"), required=False, max_length=Review.MAX_INSTRUCTIONS, strip=True,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=_("Shown before the first battle. Markdown. Say what makes an answer better."),
    )  # fmt: skip
    audience = forms.ChoiceField(label=_("Who is asked"), widget=forms.RadioSelect)
    asks_for = forms.ChoiceField(
        label=_("What people say"), choices=Review.AsksFor.choices, widget=forms.RadioSelect, required=False
    )
    plan = forms.ChoiceField(label=_("Pairs"), choices=Review.Plan.choices, widget=forms.RadioSelect)
    cases = forms.IntegerField(
        label=_("Number of questions"), required=False, min_value=1, max_value=Review.MAX_ITEMS,
        help_text=_("So many of the run’s, drawn at random. Empty: all."),
    )  # fmt: skip
    opinions_per_item = forms.IntegerField(
        label=_("Opinions on each pair or answer"), min_value=1, max_value=Review.MAX_OPINIONS,
        help_text=_("From different people. The review closes when every one has them."),
    )  # fmt: skip
    most_per_person = forms.IntegerField(
        label=_("At most from one person"), required=False, min_value=1, max_value=Review.MAX_ITEMS,
        help_text=_("Empty: as many as there are pairs or answers."),
    )  # fmt: skip
    expected_people = forms.IntegerField(
        label=_("Expected people"), required=False, min_value=1, max_value=Review.MAX_PEOPLE,
        help_text=_("With a link or codes, no more can join, and one network may use all places."),
    )  # fmt: skip
    repeats_percent = forms.IntegerField(
        label=_("Pairs shown again (%)"), min_value=0, max_value=Review.MAX_REPEATS_PERCENT,
        help_text=_("With the sides swapped, to see how steady people are. These votes count nowhere."),
    )  # fmt: skip
    gold_percent = forms.IntegerField(
        label=_("Gold pairs (%)"), required=False, min_value=0, max_value=Review.MAX_GOLD_PERCENT,
        help_text=_(
            "One answer beside the same one cut in half, to see who looks closely. These votes count nowhere; the pair "
            "is of a question that the person has voted on."
        ),
    )  # fmt: skip
    least_seconds = forms.IntegerField(
        label=_("Least seconds before a vote counts"), min_value=0, max_value=Review.MAX_LEAST_SECONDS,
    )  # fmt: skip
    takes_ties = forms.BooleanField(label=_("“Tie” is an answer"), required=False)
    takes_both_bad = forms.BooleanField(label=_("“Both are bad” is an answer"), required=False)
    names_after_vote = forms.BooleanField(
        label=_("Show the names after each vote"), required=False,
        help_text=_("Else at the close. The same answer comes again beside others, and would no longer be blind."),
    )  # fmt: skip
    hides_results = forms.BooleanField(
        label=_("Hide the results until the review closes"), required=False,
        help_text=_("From you, too: seeing the leader tempts people to stop then."),
    )  # fmt: skip
    opens_at = forms.DateTimeField(
        label=_("First votes (UTC)"), required=False, widget=MomentInput, help_text=_("Empty: as soon as you open it.")
    )
    closes_at = forms.DateTimeField(
        label=_("Closes (UTC)"), required=False, widget=MomentInput, help_text=_("Empty: when you close it.")
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, review: Review) -> None:
        """review: not stored yet for a new one."""
        super().__init__(data, initial={name: getattr(review, name) for name in self.base_fields})
        choices = Review.Audience.choices
        of_place = Review.OF_TEAMS if review.team_id is not None else set(Review.Audience) - {Review.Audience.TEAM}
        cast(forms.ChoiceField, self.fields["audience"]).choices = [
            choice for choice in choices if choice[0] in of_place
        ]
        if review.team_id is not None:
            del self.fields["expected_people"]
        if review.state == Review.State.DRAFT:
            fields, initial = stop_rule_fields(review)
            self.fields, self.initial = {**self.fields, **fields}, {**self.initial, **initial}
        if review.state == Review.State.OPEN:
            self.fields = {name: field for name, field in self.fields.items() if name in changeable(review)}

    def clean_asks_for(self) -> str:
        return self.cleaned_data["asks_for"] or Review.AsksFor.PAIRS

    def clean_gold_percent(self) -> int:
        return self.cleaned_data["gold_percent"] or 0

    @property
    def terms(self) -> ReviewTerms:
        unset = {"stop_level"} if self.cleaned_data.get("stop_level") is None else set()
        return cast(ReviewTerms, {name: value for name, value in self.cleaned_data.items() if name not in unset})


class PromptsForm(forms.Form):
    """Prompts and models that are asked first; the terms are a form of their own."""

    prompts = forms.CharField(
        label=_("Prompts"), max_length=MAX_LENGTH, widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text=_("One on each line. Longer ones are separated by blank lines."),
    )  # fmt: skip
    models = forms.MultipleChoiceField(label=_("Models"), widget=forms.CheckboxSelectMultiple)
    budget = forms.DecimalField(
        label=_("Budget in US dollars"), required=False, min_value=Decimal("0.00000001"), max_digits=14,
        decimal_places=8, help_text=_("The run never spends more. Free models need none."),
    )  # fmt: skip
    reuse_days = forms.IntegerField(
        label=_("Reuse answers up to so many days old"), required=False, min_value=1, max_value=Run.MAX_REUSE_DAYS,
        help_text=_("Only to exactly the same calls. Empty: every call is made."),
    )  # fmt: skip
    opens_when_done = forms.BooleanField(
        label=_("Open the review as soon as all answers are there"), required=False, initial=True
    )

    def __init__(self, data: QueryDict | None, *, models: Sequence[LanguageModel]) -> None:
        free = [model for model in models if not model.is_paid]
        super().__init__(data, initial={"models": [model.slug for model in free[:3]]})
        self._models = {model.slug: model for model in models}
        choices = [(slug, str(model)) for slug, model in self._models.items()]
        cast(forms.ChoiceField, self.fields["models"]).choices = choices

    @property
    def chosen_prompts(self) -> list[str]:
        return split_prompts(self.cleaned_data.get("prompts", ""))

    @property
    def chosen_models(self) -> list[LanguageModel]:
        return [self._models[slug] for slug in self.cleaned_data.get("models", [])]

    def add_refusal(self, refusal: ArenaError) -> None:
        """Show each sentence at its field; those about models at the models."""
        if not refusal.fields:
            needs_budget = self.cleaned_data.get("budget") is None and any(
                model.is_paid for model in self.chosen_models
            )
            self.add_error("budget" if needs_budget else None, refusal.detail)
        for name, lines in (refusal.fields or {}).items():
            place = "models" if name in self._models or name == "entrants" else name
            self.add_error(place if place in self.fields else None, lines)


class JoinForm(forms.Form):
    code = forms.CharField(
        label=_("Code"), max_length=20, widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Eight letters, for example BCDF-GHKM."),
    )  # fmt: skip
    nickname = forms.CharField(
        label=_("Nickname"), required=False, max_length=Reviewer.MAX_NICKNAME,
        help_text=_("If you like: the owner of the review sees it beside your number of votes."),
    )  # fmt: skip


class GradeForm(forms.Form):
    """answer: number of a drawn answer."""

    answer = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    value = forms.IntegerField(min_value=0, max_value=5)


class SetAsideForm(forms.Form):
    because = forms.CharField(required=False, max_length=Reviewer.MAX_BECAUSE)
