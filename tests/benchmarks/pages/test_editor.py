"""Pages: editor of a draft."""

import pytest
from django.test import Client

from accounts.actor import Actor
from benchmarks import actions
from benchmarks.models import Template
from tests import make
from tests.benchmarks.pages.editing import editor_data
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_site_template_shows_no_draft_to_others(sample: Sample):
    Template.objects.update(visibility="site")
    address, stranger = f"/benchmarks/t/{sample.template.public_id}/", make.browser(make.member())
    page = stranger.get(address)
    assert page.context["version"].number == 1
    assert "Edit the draft" not in page.text
    assert [stranger.get(f"{address}{path}").status_code for path in ("?version=2", "edit/", "cases/")] == [404] * 3
    Template.objects.update(held_out=True)
    assert "capital of" not in stranger.get(address).text


def test_editor_stores_prompts_and_checks(member: Actor, browser: Client):
    made = browser.post("/benchmarks/new/", {"name": "Facts"})
    template = Template.objects.get(owner_user=member.user)
    assert made["Location"] == f"/benchmarks/t/{template.public_id}/edit/"
    # A browser sends the untouched forms, too.
    untouched = {
        "prompts-TOTAL_FORMS": "2", "prompts-1-examples": "", "prompts-1-follow_ups": "",
    }  # fmt: skip
    assert browser.post(made["Location"], editor_data(**untouched)).status_code == 302
    draft = template.versions.get()
    assert draft.parameters == {"temperature": 0}
    prompt, check = draft.prompts.get(), draft.checks.get()
    assert [message["role"] for message in prompt.messages] == ["system", "user"]
    assert prompt.turns == ["Sure?", "Really?"]
    assert (check.key, check.scorer, check.settings) == ("names it", "contains_any", {})


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("checks-0-kind", "words", "Set a minimum, a maximum, or both."),
        ("checks-0-part", "after_mark", "This field is required"),
        ("checks-0-weight", "-1", "greater than or equal to 0"),
        ("prompts-0-examples", '[{"role": "judge", "template": ""}]', "is no role"),
        ("parameters", "[]", "Write a JSON object"),
        ("prompts-0-question", "", "This field is required"),
    ],
)
def test_editor_shows_errors_at_their_fields(member: Actor, browser: Client, field: str, text: str, sentence: str):
    template = samples.template(member.user)
    response = browser.post(f"/benchmarks/t/{template.public_id}/edit/", editor_data(**{field: text}))
    assert response.status_code == 422
    assert sentence in response.text.replace("&quot;", '"').replace("&#x27;", "'")
    assert template.versions.get().prompts.get().label == "plain"


def test_editor_stores_what_passes_and_what_matters(member: Actor, browser: Client):
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/edit/"
    rules = {"threshold": "0.8", "relevant_difference": "0.05", "checks-0-threshold": "0.5"}
    assert browser.post(address, editor_data(**rules)).status_code == 302
    draft = template.versions.get()
    assert (draft.threshold, draft.relevant_difference, draft.checks.get().threshold) == (0.8, 0.05, 0.5)
    assert 'value="0.05"' in browser.get(address).text
    assert '<details id="counting">' in browser.get(address).text
    wrong = browser.post(address, editor_data(**rules | {"threshold": "1.5"}))
    assert (wrong.status_code, '<details id="counting" open>' in wrong.text) == (422, True)


def test_checks_are_added_changed_and_removed_unsaved(member: Actor, browser: Client):
    template = samples.template(member.user)
    address, before = f"/benchmarks/t/{template.public_id}/edit/", [*template.versions.get().checks.values()]
    assert browser.get(address).context["editor"].checks.total_form_count() == len(before) == 1

    def after(headers: dict[str, str] | None = None, **move: str) -> list[tuple[str, str]]:
        page = browser.post(address, editor_data(**{"checks-0-target": "Paris", **move}), headers=headers)
        assert (page.status_code, "errorlist" in page.text) == (200, False)
        return [(form["kind"].value(), form["weight"].value()) for form in page.context["editor"].checks]

    assert after(add_check="regex") == [("contains_any", "1"), ("regex", "1")]
    assert after(add_check="chrf", headers={"HX-Request": "true"}) == [("contains_any", "1"), ("chrf", "1")]
    assert after(remove_check="0") == []
    assert after(as_json="0") == [("json", "1")]
    assert after(change_kind="1", **{"checks-0-kind": "ends_with"}) == [("ends_with", "1")]
    assert browser.post(address, editor_data(change_kind="1", **{"checks-TOTAL_FORMS": "x"})).status_code == 200
    assert [*template.versions.get().checks.values()] == before


def test_removed_check_moves_the_others_up(member: Actor, browser: Client):
    address = f"/benchmarks/t/{samples.template(member.user).public_id}/edit/"
    three = {f"checks-{place}-{name}": value for place, kind in enumerate(("equals", "words", "quoted"))
             for name, value in (("kind", kind), ("shown", kind), ("weight", str(place)))}  # fmt: skip
    data = editor_data(**three, **{"checks-TOTAL_FORMS": "3", "checks-1-setting_max": "9", "remove_check": "0"})
    page = browser.post(address, data)
    left = [(form["kind"].value(), form["weight"].value()) for form in page.context["editor"].checks]
    assert left == [("words", "1"), ("quoted", "2")]
    assert 'name="checks-0-setting_max" value="9"' in page.text


def test_check_without_name_is_named_by_its_work(member: Actor, browser: Client):
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/edit/"
    kinds = {f"checks-{place}-{name}": "equals" for place in (0, 1) for name in ("kind", "shown")}
    data = editor_data(**kinds, **{"checks-TOTAL_FORMS": "2", "checks-0-key": "", "checks-1-weight": "2"})
    assert browser.post(address, data).status_code == 302
    keys = [check.key for check in template.versions.get().checks.all()]
    assert keys == ["is equal to the expected answer", "is equal to the expected answer (2)"]
    shown = browser.get(f"/benchmarks/t/{template.public_id}/")
    assert shown.text.count("the expected answer of the case") == 2
    assert browser.post(address, data | {"checks-0-key": "a", "checks-1-key": "a"}).status_code == 422


def test_parameters_have_fields_and_the_others_json(member: Actor, browser: Client):
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/edit/"
    sent = editor_data(parameters='{"top_p": 0.5}', temperature="0.0", max_tokens="300")
    assert browser.post(address, sent).status_code == 302
    stored = template.versions.get().parameters
    assert (stored, type(stored["temperature"])) == ({"top_p": 0.5, "temperature": 0, "max_tokens": 300}, int)
    form = browser.get(address).context["editor"].form
    shown = [form[name].value() for name in ("temperature", "max_tokens", "parameters")]
    assert shown == [0, 300, '{\n  "top_p": 0.5\n}']
    assert browser.post(address, editor_data(parameters="{}", temperature="")).status_code == 302
    assert template.versions.get().parameters == {}


def test_draft_is_copied_from_frozen_version(sample: Sample, browser: Client):
    draft = sample.template.versions.get(number=2)
    actions.save_cases(draft, {}, deleted=[draft.cases.first().pk])
    assert [version.case_count for version in sample.template.versions.order_by("number")] == [8, 7]
    assert sample.run.version.cases.count() == 8
    assert browser.post(f"/benchmarks/t/{sample.template.public_id}/draft/").status_code == 302
    assert sample.template.versions.count() == 2
