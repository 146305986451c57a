"""The form that has a run's answers judged."""

from collections.abc import Sequence
from decimal import Decimal
from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from benchmarks.judges.actions import MAX_PAIRS_PER_CASE, JudgingRequest, start_judging
from benchmarks.judges.estimates import has_card
from benchmarks.models import Judge, Judging, Run
from common.errors import ArenaError


class JudgingForm(forms.Form):
    judge = forms.ChoiceField(label=_("Judge"), widget=forms.RadioSelect)
    plan = forms.ChoiceField(label=_("Pairs"), choices=Judging.Plan, required=False)
    pairs_per_case = forms.IntegerField(
        label=_("Pairs of a case"), required=False, min_value=1, max_value=MAX_PAIRS_PER_CASE,
        help_text=_("Of the drawn ones. Empty: as many as there are models."),
    )  # fmt: skip
    orders = forms.ChoiceField(
        label=_("Order of the two answers"), choices=Judging.Orders, required=False,
        help_text=_("Both orders show whether the judge prefers a side. One costs half, and cannot show it."),
    )  # fmt: skip
    with_card = forms.BooleanField(
        label=_("Check the judge first by 20 control pairs"), required=False,
        help_text=_("Made from the run’s own answers; about 40 calls. The right verdict of each is known."),
    )  # fmt: skip
    budget = forms.DecimalField(
        label=_("Budget in US dollars"), required=False, min_value=Decimal("0.00000001"), max_digits=14,
        decimal_places=8, help_text=_("The judge never spends more. Free models need none."),
    )  # fmt: skip

    def __init__(self, data: QueryDict | None, *, subject: Run, judges: Sequence[Judge], wanted: str = "") -> None:
        """judges: of the run's place. wanted: public id of the one that is chosen first."""
        self._subject, self._judges = subject, {judge.public_id: judge for judge in judges}
        first = wanted if wanted in self._judges else next(iter(self._judges), "")
        has_baseline = subject.entrants.filter(is_baseline=True).exists()
        plan = Judging.Plan.REGULAR if subject.entrant_count > FEW else Judging.Plan.ALL
        with_card = first in self._judges and not has_card(self._judges[first])
        super().__init__(data, initial={"judge": first, "plan": plan, "with_card": with_card})
        cast(forms.ChoiceField, self.fields["judge"]).choices = [(pk, judge.name) for pk, judge in self._judges.items()]
        if not has_baseline:
            plans = [choice for choice in Judging.Plan.choices if choice[0] != Judging.Plan.BASELINE]
            cast(forms.ChoiceField, self.fields["plan"]).choices = plans

    @property
    def judge_rows(self) -> list[tuple[forms.boundfield.BoundWidget, Judge]]:
        return [(radio, self._judges[str(radio.data["value"])]) for radio in self["judge"]]

    @property
    def chosen(self) -> Judge | None:
        return self._judges.get(self.cleaned_data.get("judge", ""))

    def request(self) -> JudgingRequest | None:
        """Return what is chosen so far, also of a form with errors; None without a judge."""
        if self.chosen is None:
            return None
        data = self.cleaned_data
        return JudgingRequest(
            self.chosen, self._subject, plan=data.get("plan") or Judging.Plan.ALL,
            pairs_per_case=data.get("pairs_per_case"), orders=data.get("orders") or Judging.Orders.BOTH,
            with_card=bool(data.get("with_card")),
        )  # fmt: skip

    def start(self, owner: User) -> Judging:
        """Raises as start_judging does."""
        request = self.request()
        if request is None:
            raise ValueError("the form is not valid")
        return start_judging(request, owner=owner, budget=self.cleaned_data["budget"])

    def add_refusal(self, refusal: ArenaError) -> None:
        """Show each sentence at its field."""
        if not refusal.fields:
            is_about_budget = self.chosen is not None and self.chosen.model.is_paid and not self.cleaned_data["budget"]
            self.add_error("budget" if is_about_budget else None, refusal.detail)
        for name, lines in (refusal.fields or {}).items():
            self.add_error(name if name in self.fields else None, lines)


# All pairs of each case are many calls with more models.
FEW = 5
