"""Pages: previews and trials in the editor."""

import pytest
from django.test import Client

from accounts.actor import Actor
from tests.benchmarks.pages.editing import editor_data
from tests.worlds.benchmarks import samples

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_preview_renders_unsaved_prompts_of_case(member: Actor, browser: Client):
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/edit/"
    sent = editor_data(preview="1", case="2")
    fragment = browser.post(address, sent, headers={"HX-Request": "true"}).text
    assert "Capital of Japan?" in fragment
    assert "<html" not in fragment
    wrong = browser.post(address, sent | {"prompts-0-question": "{{ nothing }}"}).text
    sentence = "Case %s: prompt plain, line 1, column 4: “nothing” is not defined."
    assert sentence % "japan" in wrong
    assert "Save the draft" in wrong
    saved = browser.post(address, editor_data(**{"prompts-0-question": "{{ nothing }}"}), follow=True).text
    assert saved.count(sentence % "france") == saved.count("is not defined") == 1


def test_unsaved_checks_are_tried_on_text(member: Actor, browser: Client):
    template = samples.template(member.user)
    address, own = f"/benchmarks/t/{template.public_id}/edit/", '["{{ country }} has {{ expected[0] }}"]'
    sent = editor_data(**{
        "try": "1", "tried_case": "2", "answer": "I say: Tokyo <b>", "checks-TOTAL_FORMS": "3", "checks-0-weight": "3",
        "checks-1-key": "own target", "checks-1-kind": "json", "checks-1-shown": "json", "checks-1-scorer": "icontains",
        "checks-1-target": own, "checks-1-weight": "1", "checks-2-key": "sum", "checks-2-kind": "expression",
        "checks-2-shown": "expression", "checks-2-setting_expression": "size(text) < 5", "checks-2-weight": "0",
    })  # fmt: skip
    page = browser.post(address, sent)
    assert page.context["editor"].checks.total_form_count() == 3
    assert [check.key for check in template.versions.get().checks.all()] == ["names the capital"]
    trial = page.context["trial"]
    assert [(key, verdict.value, verdict.error) for key, verdict in trial.verdicts] == [
        ("names it", 1.0, ""), ("own target", 0.0, ""), ("sum", 0.0, ""),
    ]  # fmt: skip
    assert (trial.score.score, trial.score.passed) == (0.75, False)
    assert "I say: Tokyo &lt;b&gt;" in page.text
    fragment = browser.post(address, sent | {"checks-1-target": '["{{ nothing }}"]'}, headers={"HX-Request": "true"})
    assert ["<html" in fragment.text, "<table" in fragment.text, "undefined" in fragment.text] == [False, False, True]
    wrong = browser.post(address, sent | {"checks-1-settings": "{", "checks-2-setting_expression": "1 +"})
    assert "Checks with errors are left out." in wrong.text
    assert "checks[1]" in wrong.context["trial"].problems[0]
