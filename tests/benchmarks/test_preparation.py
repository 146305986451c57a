"""Prompts are rendered in a guarded child, and items inserted once."""

from collections.abc import Callable

import pytest
from django.db import Error

from battles.models import ModerationCase, ModerationRule
from benchmarks.models import Prompt, RenderedPrompt, Run, RunItem, TemplateVersion
from benchmarks.preparation import guard, run_preparation, sources
from benchmarks.preparation.frames import CaseSource, PromptSource, RenderRequest
from benchmarks.preparation.run_preparation import prepare
from tests import make
from tests.benchmarks import factory

pytestmark = pytest.mark.processes

GROWS = "{% set n = namespace(t='x') %}{% for i in range(40) %}{% set n.t = n.t ~ n.t %}{% endfor %}{{ n.t }}"
LOOPS = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}"


def problems_of(template: str, variables: dict[str, object], schema: dict[str, object] | None = None) -> list[str]:
    prompts = [PromptSource(1, "ask", [{"role": "user", "template": template}], [])]
    cases = [CaseSource(1, "first", variables, []), CaseSource(2, "second", variables, [])]
    results = guard.render(RenderRequest(prompts, cases, schema or {}))
    return [str(problem) for result in results for problem in result.problems]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("say {{ wrod }}", "first: ask, 1:8: UndefinedError: `wrod` is undefined"),
        ("\n{% if %}", "first: ask, 2:7: SyntaxError: unexpected end of block"),
        ("{{ word|attr('__class__') }}", "first: ask, 1:9: UnknownFilter: filter attr is unknown"),
        ("{{ word.__class__ }}", "first: ask, 1:4: UndefinedError: `word.__class__` is undefined"),
        (LOOPS, "first: ask, 1:0: OutOfFuel"),
        (GROWS, f"first: {guard.TOO_DEMANDING}"),
        ("{{ 'x' * 300000 }}", "first: over 200000 characters"),
    ],
)
def test_hostile_template_is_refused_with_its_place(template: str, problem: str):
    assert problems_of(template, {"word": "x"})[0].startswith(problem)


def test_values_are_not_rendered_again():
    prompts = [PromptSource(1, "ask", [{"role": "user", "template": "{{ word }} & {{ many|tojson }}"}], ["{{ word }}"])]
    request = RenderRequest(prompts, [CaseSource(1, "first", {"word": "{{ 1 + 1 }}", "many": [1]}, [])], {})
    [result] = guard.render(request)
    assert [source.messages for source in result.rendered] == [[{"role": "user", "content": "{{ 1 + 1 }} & [1]"}]]
    assert result.rendered[0].turns == ["{{ 1 + 1 }}"]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"properties": {"word": {"type": "integer"}}}, 'first: word: "aaaa!" is not of type "integer"'),
        ({"required": ["n"]}, 'first: variables: "n" is a required property'),
        ({"properties": {"word": {"pattern": "^(a+)+$"}}}, "first: word:"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "first: schema of the variables: "),
        ({"properties": {"word": {"pattern": r"(a)\1"}}}, "first: schema of the variables: "),
    ],
)
def test_variables_are_validated_without_network(schema: dict[str, object], problem: str):
    assert problems_of("{{ word }}", {"word": "aaaa!"}, schema)[0].startswith(problem)


@pytest.mark.django_db(transaction=True)
def test_preparation_goes_on_where_it_was_killed(monkeypatch: pytest.MonkeyPatch):
    version = factory.version(12)
    run = factory.run(version, make.model(), make.model(), repeats=2, is_prepared=False)
    monkeypatch.setattr("benchmarks.preparation.run_preparation.ITEMS_PER_STATEMENT", 10)
    monkeypatch.setattr("benchmarks.preparation.run_preparation.CASES_PER_CHILD", 5)
    prolong, left = run_preparation._renew_lease, iter(range(4))

    def killed_after_some(*arguments: object, **options: object) -> bool:
        next(left)
        return prolong(*arguments, **options)

    monkeypatch.setattr("benchmarks.preparation.run_preparation._renew_lease", killed_after_some)
    with pytest.raises(StopIteration):
        prepare(run.pk)
    monkeypatch.setattr("benchmarks.preparation.run_preparation._renew_lease", prolong)
    assert not prepare(run.pk)  # the other's lease holds
    Run.objects.update(driven_until=None)
    assert prepare(run.pk)
    assert factory.counts(run) == {"queued": 48}
    assert RenderedPrompt.objects.count() == 12
    ordered = RunItem.objects.order_by("position").values_list("case", "repeat", "entrant")
    pairs = [(row[:2], next_row[:2]) for row, next_row in zip(ordered[::2], ordered[1::2], strict=True)]
    assert all(left == right for left, right in pairs)
    assert [left for left, _ in pairs] != sorted(left for left, _ in pairs)


@pytest.mark.django_db(transaction=True)
def test_case_too_long_for_an_entrant_is_known_before_calls(settings):
    settings.ARENA_MAX_TOKENS = 10
    version = factory.version(2, template="say {{ word }}" + " and more" * 100)
    run = factory.run(version, make.model(context_length=20), make.model())
    assert factory.counts(run) == {"failed": 2, "queued": 2}
    assert set(RunItem.objects.filter(state="failed").values_list("error", "attempt")) == {("prompt_too_long", 0)}


@pytest.mark.django_db(transaction=True)
def test_run_without_a_prompt_fails_with_its_cases(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sources, "EXAMINED_CASES", 0)  # as of cases after them
    run = factory.run(factory.version(2, template="{{ wrod }}"), make.model(), is_prepared=False)
    assert not prepare(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == ("failed", "not_preparable")
    assert [line.partition(":")[0] for line in run.detail.splitlines()] == ["case-0", "case-1"]


@pytest.mark.django_db
def test_column_counts_characters():
    prompt = PromptSource(1, "ask", [{"role": "user", "template": "é\n“é” {{ wrod }}"}], [])
    [result] = guard.render(RenderRequest([prompt], [CaseSource(1, "first", {}, [])], {}))
    assert [(problem.line, problem.column) for problem in result.problems] == [(2, 8)]


@pytest.mark.django_db(transaction=True)
def test_case_that_a_rule_blocks_fails_the_run():
    run = factory.run(factory.version(3), make.model(), is_prepared=False)
    ModerationRule.objects.create(category="secrets", patterns=["word1"], action="block")
    assert not prepare(run.pk)
    run.refresh_from_db()
    assert (run.state, run.detail) == ("failed", "case-1: This arena does not allow “secrets”.")
    assert ModerationCase.objects.get().user == run.owner
    assert not RunItem.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "change",
    [
        lambda version: version.prompts.update(label="other"),
        lambda version: version.cases.all().delete(),
        lambda version: version.checks.update(weight=2),
        lambda version: TemplateVersion.objects.filter(pk=version.pk).update(number=2),
        lambda version: Prompt.objects.create(version=version, position=3, messages=[]),
    ],
    ids=["prompt", "case", "check", "version", "new prompt"],
)
def test_frozen_version_never_changes(change: Callable[[TemplateVersion], object]):
    version = factory.version()
    factory.run(version, make.model(), is_prepared=False)
    with pytest.raises(Error, match=r"what_a_run_used_never_changes|Cannot update"):
        change(version)
