"""Built-in templates: their checks tell right answers from wrong ones."""

import re

import msgspec
import pytest
from django.conf import settings

from benchmarks import actions
from benchmarks.built_in.reading import LANGUAGES, NAMES, BuiltIn, BuiltInCase, read
from benchmarks.checks.children import scoring_children
from benchmarks.models import Template, TemplateVersion
from benchmarks.preparation import guard
from benchmarks.preparation.frames import CaseSource, PromptSource, RenderRequest
from benchmarks.scoring import registry
from benchmarks.scoring.check import Check
from benchmarks.scoring.item_checks import score_item
from benchmarks.scoring.item_score import item_score
from benchmarks.scoring.ports import ScoredAnswer

FIELDS = ("key", "scorer", "settings", "weight", "negate", "threshold", "is_gate", "metric")


def passes(built_in: BuiltIn, case: BuiltInCase, text: str) -> bool | None:
    own = [{name: getattr(check, name) for name in (*FIELDS, "extract")} for check in built_in.checks]
    raw = [*own, *(case.case.checks or [])]
    assert registry.errors_of_checks(raw, scoring_children().errors) == []
    checks = [msgspec.convert(check, Check) for check in raw]
    prepared = [registry.prepare(check) for check in checks]
    assert [registry.target_error(check, case.case.expected) for check in prepared] == [None] * len(prepared)
    verdicts = score_item(prepared, [case.case.expected] * len(raw), ScoredAnswer(text=text), scoring_children())
    assert [verdict.error for verdict in verdicts] == [""] * len(raw)
    return item_score(checks, verdicts, None).passed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_right_answers_pass_and_wrong_ones_do_not(name: str, language: str):
    built_in = read(name, language)
    outcomes = {
        case.case.key: (passes(built_in, case, case.right), passes(built_in, case, case.wrong))
        for case in built_in.cases
    }
    assert {key: verdicts for key, verdicts in outcomes.items() if verdicts != (True, False)} == {}
    assert 12 <= len(outcomes) == len(built_in.cases) <= 20


@pytest.mark.processes
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_prompts_of_all_cases_can_be_rendered(name: str, language: str):
    built_in = read(name, language)
    prompts = [PromptSource(0, "prompt", prompt.messages, []) for prompt in built_in.prompts]
    cases = [CaseSource(0, case.case.key, case.case.variables, case.case.expected) for case in built_in.cases]
    results = guard.render(RenderRequest(prompts, cases, {}))
    assert [problem for result in results for problem in result.problems] == []
    assert len(results) == len(cases)


@pytest.mark.parametrize("language", LANGUAGES)
def test_one_template_is_the_first(language: str):
    assert [name for name in NAMES if read(name, language).is_first] == ["facts"]


@pytest.mark.parametrize("name", NAMES)
def test_languages_have_as_many_cases_and_the_same_checks(name: str):
    counts = {len(read(name, language).cases) for language in LANGUAGES}
    checks = {tuple((check.scorer, check.weight) for check in read(name, language).checks) for language in LANGUAGES}
    assert (len(counts), len(checks)) == (1, 1)


@pytest.mark.processes
@pytest.mark.django_db
def test_built_in_templates_are_stored_once_and_updated():
    assert actions.store_built_in_templates() == len(NAMES) * len(LANGUAGES)
    assert actions.store_built_in_templates() == 0
    assert TemplateVersion.objects.filter(state="frozen", template__visibility="site").count() == 16
    first = Template.objects.get(name="Arithmetic").versions.get()
    with_digest = TemplateVersion.objects.filter(template__name="Facts with short answers")
    actions.start_draft(with_digest.get().template)  # an administrator edits it
    TemplateVersion.objects.filter(state="draft").update(import_report={})
    assert actions.store_built_in_templates() == 0
    assert (first.number, first.case_count) == (1, 16)


def test_docs_list_the_templates_with_their_cases():
    table = (settings.BASE_DIR / "docs/benchmarks.md").read_text().partition("## Built-in templates")[2]
    documented = {name: int(cases) for name, cases in re.findall(r"^\| ([A-Z][^|]+) \| (\d+) \|", table, re.MULTILINE)}
    assert documented == {read(name).name: len(read(name).cases) for name in NAMES}
