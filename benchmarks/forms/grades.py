from django import forms
from django.utils.translation import gettext_lazy as _

from benchmarks.models import Grade

_VALUES = {"fail": (Grade.Kind.PASS, 0), "pass": (Grade.Kind.PASS, 1)} | {
    str(stars): (Grade.Kind.STARS, stars) for stars in range(1, 6)
}


class GradeForm(forms.Form):
    grade = forms.ChoiceField(choices=[(name, name) for name in _VALUES])
    comment = forms.CharField(
        label=_("Comment"), required=False, max_length=Grade.MAX_COMMENT,
        widget=forms.Textarea(attrs={"rows": 1, "dir": "auto"}),
    )  # fmt: skip

    def grade_fields(self) -> tuple[Grade.Kind, int]:
        return _VALUES[self.cleaned_data["grade"]]


def chosen_of(grade: Grade | None) -> str:
    """Return the form's choice that a grade came from, "" without one."""
    return next((name for name, pair in _VALUES.items() if grade and pair == (grade.kind, grade.value)), "")
