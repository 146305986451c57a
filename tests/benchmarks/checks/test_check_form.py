import pytest
from django.http import QueryDict

from benchmarks.forms.checks.form import CheckForm

NESTED = '{"checks": [{"scorer": "equals"}, {"scorer": "contains", "target": []}]}'


@pytest.mark.parametrize(
    ("changed", "errors"),
    [
        ({"scorer": "number", "target": "four"}, {"target": ["'four' is not one number."]}),
        ({"settings": '{"case": 1}'}, {"settings": ["There is no setting “case”."]}),
        (
            {"extract": '[{"step": "last_line"}, {"step": "guess"}]'},
            {"extract": ["extract[1].step: “guess” is none of the possible values."]},
        ),
        (
            {"scorer": "all_of", "settings": NESTED},
            {"settings": ["settings.checks[1]: The target is empty."]},
        ),
    ],
    ids=["target", "settings", "extract", "nested"],
)
def test_error_of_a_check_is_shown_at_its_field(changed: dict[str, str], errors: dict[str, list[str]]):
    data = QueryDict(mutable=True)
    data.update({"kind": "json", "shown": "json", "scorer": "equals", "weight": "1", **changed})
    form = CheckForm(data)
    assert form.errors == errors
