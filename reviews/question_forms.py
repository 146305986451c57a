from typing import cast

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from benchmarks.forms.rows import add_row, remove_row
from reviews.actions.lifecycle import ReviewTerms
from reviews.forms import ReviewForm
from reviews.models import Review
from reviews.payload_types import QuestionPayload
from reviews.questions import MAX_QUESTIONS, MAX_STEP, MAX_STEPS, MAX_TEXT, problem_of_steps

_PREFIX = "questions"


class QuestionForm(forms.Form):
    text = forms.CharField(
        label=_("Question"), max_length=MAX_TEXT, widget=forms.TextInput(attrs={"dir": "auto"}),
        help_text=_("For example: Which answer is more polite?"),
    )  # fmt: skip
    steps = forms.CharField(
        label=_("Answers, one on each line"), max_length=MAX_STEPS * (MAX_STEP + 2),
        widget=forms.Textarea(attrs={"rows": MAX_STEPS, "dir": "auto"}),
        help_text=_("Two to five, in their order. For example: A much, A a bit, both alike, B a bit, B much."),
    )  # fmt: skip
    compares = forms.BooleanField(
        label=_("The answers lead from answer A to answer B"), required=False, initial=True,
        help_text=_("Otherwise the question is about both together."),
    )  # fmt: skip

    def clean_steps(self) -> list[str]:
        steps = [line.strip() for line in str(self.cleaned_data["steps"]).splitlines() if line.strip()]
        if any(len(step) > MAX_STEP for step in steps):
            raise forms.ValidationError(_("An answer has at most %(most)s characters."), params={"most": MAX_STEP})
        if problem := problem_of_steps(steps):
            raise forms.ValidationError(problem)
        return steps

    @property
    def question(self) -> QuestionPayload:
        data = self.cleaned_data
        return {"text": data["text"], "steps": data["steps"], "compares": data["compares"]}


class _BaseQuestionFormSet(forms.BaseFormSet):  # type: ignore[type-arg]
    def get_form_kwargs(self, index: int | None) -> dict[str, object]:
        return super().get_form_kwargs(index) | {"empty_permitted": False}


QuestionFormSet = forms.formset_factory(
    QuestionForm, formset=_BaseQuestionFormSet, extra=0, max_num=MAX_QUESTIONS, validate_max=True
)


class TermsEditor:
    """is_moved: by a button that adds or removes a question; else a form is_sent."""

    def __init__(self, data: QueryDict | None, *, review: Review) -> None:
        """review: not stored yet for a new one."""
        self.is_moved = data is not None and ("add_question" in data or "remove_question" in data)
        self.is_sent = data is not None and not self.is_moved
        if data is not None and self.is_moved:
            data = data.copy()
            if "add_question" in data:
                add_row(data, _PREFIX, compares="on")
            remove_row(data, _PREFIX, data.get("remove_question", ""))
        self.form = ReviewForm(data, review=review)
        self.questions: forms.BaseFormSet | None = None  # type: ignore[type-arg]
        if review.state == Review.State.DRAFT and (data is None or f"{_PREFIX}-TOTAL_FORMS" in data):
            rows = [{**question, "steps": "\n".join(question["steps"])} for question in review.questions]
            self.questions = QuestionFormSet(data, prefix=_PREFIX, initial=rows)

    @property
    def has_room(self) -> bool:
        return self.questions is not None and self.questions.total_form_count() < MAX_QUESTIONS

    def is_valid(self) -> bool:
        return all([self.form.is_valid(), self.questions is None or self.questions.is_valid()])

    @property
    def terms(self) -> ReviewTerms:
        if self.questions is None:
            return self.form.terms
        questions = [form.question for form in self.questions]
        return cast(ReviewTerms, {**self.form.terms, "questions": questions})
