import pytest

from benchmarks.forms.templates import CheckForm

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
    form = CheckForm({"key": "a", "scorer": "equals", "weight": "1", "settings": "{}", "extract": "[]", **changed})
    assert form.errors == errors
