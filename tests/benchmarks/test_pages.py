"""Pages of benchmarks."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from benchmarks import actions
from benchmarks.models import Case, Run, RunItem, Template
from models_registry.models import LanguageModel, Price
from tests import make
from tests.worlds.benchmarks import samples
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]
FIRST = "Facts with short answers"


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def models() -> list[LanguageModel]:
    return [make.model(name=f"Model {name}", slug=name) for name in ("ada", "bob")]


@pytest.fixture
def sample(member: Actor, models: list[LanguageModel]) -> Sample:
    return samples.sample(member.user, models)


@pytest.fixture
def browser(member: Actor) -> Client:
    return make.browser(member)


def test_list_offers_first_step_and_finds_rows(member: Actor, browser: Client, models: list[LanguageModel]):
    assert "Make a template" in browser.get("/benchmarks/").text
    assert "Sign in" in Client().get("/benchmarks/").text
    sample = samples.sample(member.user, models)
    assert sample.template.public_id in browser.get("/benchmarks/?search=capitals").text
    assert "No template matches" in browser.get("/benchmarks/?search=nothing").text
    runs = browser.get("/benchmarks/?show=runs&state=done", headers={"HX-Request": "true"}).text
    assert "First look" in runs
    assert "<html" not in runs
    assert sample.run.public_id not in browser.get("/benchmarks/?show=runs&state=paused").text
    assert sample.template.public_id not in make.browser(make.member()).get("/benchmarks/").text


def test_new_member_runs_built_in_template_in_three_clicks(member: Actor, models: list[LanguageModel]):
    actions.store_built_in_templates()
    browser = make.browser(member)
    page = browser.get("/benchmarks/")
    address = f"/benchmarks/t/{Template.objects.get(name=FIRST).public_id}/start/"
    assert page.text.index(f"Run “{FIRST}” now") < page.text.index("Arithmetic")
    assert address in page.text
    form = browser.get(address).context["form"]
    assert form.initial["models"] == ["ada", "bob"]
    sent = {name: form[name].value() for name in ("models", "prompts", "repeats", "concurrency", "starts_at_once")}
    assert browser.post(address, sent).status_code == 302
    run = Run.objects.get()
    assert (run.state, run.entrant_count, run.version.case_count) == ("preparing", 2, 20)
    assert f"Run “{FIRST}” now" not in browser.get("/benchmarks/").text


def test_list_query_count_is_fixed(member: Actor, browser: Client, models: list[LanguageModel]):
    costs = []
    for tab in ("templates", "runs"):
        for _ in range(2):
            samples.sample(member.user, models)
            with CaptureQueriesContext(connection) as queries:
                browser.get(f"/benchmarks/?show={tab}")
            costs.append(len(queries))
    assert costs[0] == costs[1] <= 10
    assert costs[2] == costs[3] <= 10


def test_site_template_shows_no_draft_to_others(sample: Sample):
    Template.objects.update(visibility="site")
    address, stranger = f"/benchmarks/t/{sample.template.public_id}/", make.browser(make.member())
    page = stranger.get(address)
    assert page.context["version"].number == 1
    assert "Edit the draft" not in page.text
    assert [stranger.get(f"{address}{path}").status_code for path in ("?version=2", "edit/", "cases/")] == [404] * 3
    Template.objects.update(held_out=True)
    assert "capital of" not in stranger.get(address).text


def editor_data(**changes: str) -> dict[str, str]:
    data = {
        "name": "Facts", "description": "", "errors_count": "missing", "parameters": '{"temperature": 0}',
        "prompts-TOTAL_FORMS": "1", "prompts-INITIAL_FORMS": "1", "prompts-0-label": "plain",
        "prompts-0-system": "Be brief.", "prompts-0-question": "Capital of {{ country }}?",
        "prompts-0-follow_ups": "Sure?\n---\nReally?", "prompts-0-examples": "",
        "checks-TOTAL_FORMS": "1", "checks-INITIAL_FORMS": "0", "checks-0-key": "names it",
        "checks-0-scorer": "contains", "checks-0-settings": "", "checks-0-extract": "", "checks-0-weight": "1",
    }  # fmt: skip
    return data | changes


def test_editor_stores_prompts_and_checks(member: Actor, browser: Client):
    made = browser.post("/benchmarks/new/", {"name": "Facts"})
    template = Template.objects.get(owner_user=member.user)
    assert made["Location"] == f"/benchmarks/t/{template.public_id}/edit/"
    # A browser sends the untouched forms, too.
    untouched = {
        "prompts-TOTAL_FORMS": "2", "prompts-1-examples": "", "prompts-1-follow_ups": "", "checks-TOTAL_FORMS": "2",
        "checks-1-scorer": "contains", "checks-1-settings": "", "checks-1-extract": "", "checks-1-weight": "1",
    }  # fmt: skip
    assert browser.post(made["Location"], editor_data(**untouched)).status_code == 302
    draft = template.versions.get()
    assert draft.parameters == {"temperature": 0}
    prompt, check = draft.prompts.get(), draft.checks.get()
    assert [message["role"] for message in prompt.messages] == ["system", "user"]
    assert prompt.turns == ["Sure?", "Really?"]
    assert (check.key, check.scorer, check.settings) == ("names it", "contains", {})


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("checks-0-settings", '{"nonsense": 1}', "nonsense"),
        ("checks-0-settings", "{", "This is not JSON"),
        ("checks-0-extract", '[{"step": "unknown"}]', "unknown"),
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


def test_editor_stores_what_passes_and_what_matters(member: Actor, browser: Client):
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/edit/"
    rules = {"threshold": "0.8", "relevant_difference": "0.05", "checks-0-threshold": "0.5"}
    assert browser.post(address, editor_data(**rules)).status_code == 302
    draft = template.versions.get()
    assert (draft.threshold, draft.relevant_difference, draft.checks.get().threshold) == (0.8, 0.05, 0.5)
    assert 'value="0.05"' in browser.get(address).text
    assert browser.post(address, editor_data(**rules | {"threshold": "1.5"})).status_code == 422


def test_unsaved_checks_are_tried_on_text(member: Actor, browser: Client):
    template = samples.template(member.user)
    address, own = f"/benchmarks/t/{template.public_id}/edit/", '["{{ country }} has {{ expected[0] }}"]'
    sent = editor_data(**{
        "try": "1", "tried_case": "2", "answer": "I say: Tokyo <b>", "checks-TOTAL_FORMS": "3", "checks-0-weight": "3",
        "checks-1-key": "own target", "checks-1-scorer": "icontains", "checks-1-target": own, "checks-1-weight": "1",
        "checks-2-key": "sum", "checks-2-scorer": "expression", "checks-2-settings": '{"expression": "size(text) < 5"}',
        "checks-2-weight": "0",
    })  # fmt: skip
    page = browser.post(address, sent)
    trial = page.context["trial"]
    assert [(key, verdict.value, verdict.error) for key, verdict in trial.verdicts] == [
        ("names it", 1.0, ""), ("own target", 0.0, ""), ("sum", 0.0, ""),
    ]  # fmt: skip
    assert (trial.score.score, trial.score.passed) == (0.75, False)
    assert "I say: Tokyo &lt;b&gt;" in page.text
    fragment = browser.post(address, sent | {"checks-1-target": '["{{ nothing }}"]'}, headers={"HX-Request": "true"})
    assert ["<html" in fragment.text, "<table" in fragment.text, "undefined" in fragment.text] == [False, False, True]
    wrong = browser.post(address, sent | {"checks-1-settings": "{", "checks-2-settings": '{"expression": "1 +"}'})
    assert "Checks with errors are left out." in wrong.text
    assert "checks[1]" in wrong.context["trial"].problems[0]


def test_table_is_pasted_edited_and_refused_whole(member: Actor, browser: Client):
    template = samples.template(member.user, cases=False)
    address = f"/benchmarks/t/{template.public_id}"
    bad = browser.post(f"{address}/paste/", {"table": "key\tcountry\na\tx\na\ty\nb\tz\textra"})
    assert bad.status_code == 422
    assert "Line 3: the key “a” is that of line 2." in bad.text
    assert "Line 4 has more cells than the first row." in bad.text
    assert Case.objects.count() == 0
    table = 'key\tcountry\texpected\ttags\nfr\t"France\nis big"\tParis\tnear, big\n\tPeru\t["Lima", "lima"]\t'
    assert browser.post(f"{address}/paste/", {"table": table}).status_code == 302
    first, second = Case.objects.order_by("position")
    assert (first.variables, first.expected, first.tags) == ({"country": "France\nis big"}, ["Paris"], ["near", "big"])
    assert (second.key, second.expected) == ("2", ["Lima", "lima"])
    cells = {
        f"{first.pk}-key": "france", f"{first.pk}-0": "France", f"{first.pk}-expected": "Paris", f"{first.pk}-tags": "",
        f"{second.pk}-key": "2", f"{second.pk}-delete": "on",
    }  # fmt: skip
    assert browser.post(f"{address}/cases/", cells).status_code == 302
    assert list(Case.objects.values_list("key", "variables", "tags")) == [("france", {"country": "France"}, [])]
    empty = browser.post(f"{address}/cases/", {f"{first.pk}-key": "", f"{first.pk}-0": "typed"})
    assert empty.status_code == 422
    assert "typed" in empty.text


def test_draft_is_copied_from_frozen_version(sample: Sample, browser: Client):
    draft = sample.template.versions.get(number=2)
    actions.save_cases(draft, {}, deleted=[draft.cases.first().pk])
    assert [version.case_count for version in sample.template.versions.order_by("number")] == [8, 7]
    assert sample.run.version.cases.count() == 8
    assert browser.post(f"/benchmarks/t/{sample.template.public_id}/draft/").status_code == 302
    assert sample.template.versions.count() == 2


def test_start_estimates_and_creates_run(member: Actor, browser: Client, models: list[LanguageModel]):
    Price.objects.create(model=models[1], input_per_million=1, output_per_million=2)
    LanguageModel.objects.filter(slug="ada").update(context_length=1)
    template = samples.template(member.user)
    address = f"/benchmarks/t/{template.public_id}/start/"
    assert "Start the run" in browser.get(address).text
    sent = {"models": ["ada", "bob"], "repeats": "2", "concurrency": "4", "prompts": ["0"], "parameters": ""}
    fragment = browser.post(address, sent | {"estimate": "1"}, headers={"HX-Request": "true"}).text
    assert ("8 cases:" in fragment, "<html" in fragment) == (True, False)
    found = browser.post(address, sent | {"estimate": "1"}).context["estimate"]
    assert (found.items, found.entrants[0].too_long_count) == (32, 8)
    assert Decimal(0) < found.expected < found.most
    assert not Run.objects.exists()
    refused = browser.post(address, sent)
    assert refused.status_code == 422
    assert "A run of paid models needs a budget." in refused.text
    wrong = browser.post(address, sent | {"repeats": "33", "baseline": "cyd", "parameters": '{"temperature": "hot"}'})
    assert {"repeats", "baseline", "parameters"} <= set(wrong.context["form"].errors)
    started = browser.post(address, sent | {"budget": "1.5", "baseline": "bob", "starts_at_once": "on"})
    run = Run.objects.get()
    assert started["Location"] == f"/benchmarks/r/{run.public_id}/"
    assert (run.repeats, run.budget, run.version.state) == (2, Decimal("1.5"), "frozen")
    assert list(run.entrants.values_list("model__slug", "is_baseline")) == [("ada", False), ("bob", True)]


def test_run_page_shows_progress_and_moves(member: Actor, browser: Client, models: list[LanguageModel]):
    template = samples.template(member.user)
    run = actions.create_run(
        owner=member.user, version=template.versions.get(), entrants=[actions.EntrantRequest(models[0])],
        budget=Decimal(2),
    )  # fmt: skip
    samples.prepare(run)
    address = f"/benchmarks/r/{run.public_id}/"
    page = browser.get(address)
    assert page.context["progress"].total == 8
    assert "/benchmarks/stream/" in page.text
    assert browser.post(f"{address}do/pause/").status_code == 303
    run.refresh_from_db()
    assert run.state == "paused"
    assert "Paused by its owner." in browser.get(address).text
    assert "not possible" in browser.post(f"{address}do/pause/", follow=True).text
    assert browser.post(f"{address}do/nonsense/").status_code == 404
    refused = browser.post(f"{address}budget/", {"to": "1"})
    assert (refused.status_code, "A budget can only be raised." in refused.text) == (422, True)
    assert "of $5" in browser.post(f"{address}budget/", {"to": "5"}, follow=True).text
    assert browser.post(f"{address}do/cancel/", follow=True).context["run"].state == "cancelled"


def test_run_under_way_shows_results_so_far(member: Actor, browser: Client, models: list[LanguageModel]):
    sample = samples.sample(member.user, models)
    run = samples.live_run(member.user, sample.run.version, models)
    address = f"/benchmarks/r/{run.public_id}/"
    assert "so-far" not in browser.get(address).text
    for item in run.items.filter(case=sample.item.case_id).select_related("entrant__model", "run"):
        samples.answer(item, "Paris", is_right=True)
    assert f'hx-get="{address}report/?number=0"' in browser.get(address).text
    part = browser.get(f"{address}report/?number=0", headers={"HX-Request": "true"}).text
    assert "Results so far" in part
    assert "<html" not in part
    report = browser.get(f"{address}report/?number=0").text
    assert "these numbers are of the answers so far" in report
    assert "Who may read it" not in report  # there is nothing yet to publish
    assert browser.get(f"{address}matrix/").status_code == 200


def test_broken_model_is_left_out_on_the_page(member: Actor, browser: Client, models: list[LanguageModel]):
    sample = samples.sample(member.user, models)
    run = samples.live_run(member.user, sample.run.version, models)
    address, bob = f"/benchmarks/r/{run.public_id}/", run.entrants.get(model=models[1])
    Run.objects.filter(pk=run.pk).update(state="paused", reason="refused_key")
    run.entrants.filter(pk=bob.pk).update(halted="refused_key", failures=1, failure="refused_key")
    page = browser.get(address, headers={"Accept-Language": "fr"}).text
    assert "Laisser ce modèle de côté" in page
    page = browser.get(address).text
    assert "1 of this run’s calls to" in page
    assert "Nothing more is asked until the run is resumed." in page
    assert f"Leave {bob} out" in page
    other = make.browser(make.member())
    assert other.post(f"{address}do/leave-out/", {"entrant": bob.pk}).status_code == 404
    assert browser.post(f"{address}do/leave-out/", {"entrant": 0}).status_code == 404
    assert browser.post(f"{address}do/leave-out/", {"entrant": sample.item.entrant_id}).status_code == 404
    shown = browser.post(f"{address}do/leave-out/", {"entrant": bob.pk}, follow=True).text
    assert f"{bob} is left out. Its answers stay." in shown
    assert f"Leave {bob} out" not in shown
    run.refresh_from_db()
    assert run.state == "running"
    Run.objects.filter(pk=run.pk).update(state="done")
    ada = run.entrants.get(model=models[0])
    refused = browser.post(f"{address}do/leave-out/", {"entrant": ada.pk}, follow=True).text
    assert "A model can be left out while the run is under way." in refused


def test_finished_run_shows_results_with_warnings(sample: Sample, browser: Client):
    page = browser.get(f"/benchmarks/r/{sample.run.public_id}/")
    first, second = page.context["results"].rows
    assert (first.entrant.model.slug, first.mean.mean.value, first.mean.scored) == ("ada", 1.0, 8)
    assert (second.mean.scored, second.mean.planned, second.rank) == (7, 8, None)
    assert any("7 of 8 scores" in sentence for sentence in page.context["results"].warnings)
    assert "The connection broke before the answer was complete." in page.text
    assert "Retry what failed" in page.text


def test_finished_run_is_scored_again_by_own_draft_only(sample: Sample, browser: Client):
    address, draft = f"/benchmarks/r/{sample.run.public_id}/", sample.template.versions.get(number=2)
    assert "Score again by version 2" in browser.get(address).text
    Template.objects.update(owner_user=make.user(), visibility="site")
    assert "Score again by" not in browser.get(address).text
    browser.post(f"{address}do/rescore/")
    draft.refresh_from_db()
    assert draft.state == "draft"
    sample.run.refresh_from_db()
    assert sample.run.state == "scoring"


def test_matrix_filters_rows(sample: Sample, browser: Client):
    address = f"/benchmarks/r/{sample.run.public_id}/matrix/"

    def keys(query: str) -> list[str]:
        page = browser.get(f"{address}?{query}", headers={"HX-Request": "true"}).context["page"]
        return [case.key for case, _cells in page.rows]

    with CaptureQueriesContext(connection) as queries:
        assert len(keys("")) == 8
    assert len(queries) <= 12
    assert keys("only=failed") == ["japan"]
    assert keys("only=disagree") == ["france", "peru", "norway", "ghana"]
    assert keys("tag=europe") == ["france", "norway"]
    assert keys("search=unknown") == ["france", "peru", "norway", "ghana"]
    assert keys("search=nairobi") == ["kenya"]
    assert keys("after=7") == ["nepal"]
    signs = [cell.sign for cell in browser.get(address).context["page"].rows[1][1]]
    assert signs == ["right", "failed"]


def test_item_and_case_show_answers_safely(sample: Sample, browser: Client):
    item = sample.item
    item.replies.get().reply.__class__.objects.update(text="**Paris** <script>alert(1)</script>")
    page = browser.get(f"/benchmarks/r/{sample.run.public_id}/items/{item.pk}/").text
    for part in ("What is the capital of France?", "<strong>Paris</strong>", "Let me think.", "names the capital"):
        assert part in page
    assert "<script>alert" not in page
    both = browser.get(f"/benchmarks/r/{sample.run.public_id}/case/{item.case_id}/")
    assert [reply.entrant.model.slug for reply in both.context["replies"]] == ["ada", "bob"]
    failed = RunItem.objects.get(error="cut", entrant__run=sample.run)
    assert "broke before" in browser.get(f"/benchmarks/r/{sample.run.public_id}/items/{failed.pk}/").text
    assert browser.get(f"/benchmarks/r/{sample.run.public_id}/items/999999/").status_code == 404


def test_published_run_is_read_only_and_holds_out(sample: Sample):
    run, address = sample.run, f"/benchmarks/r/{sample.run.public_id}/"
    paths = ["", "matrix/", f"items/{sample.item.pk}/", f"case/{sample.item.case_id}/"]
    statuses = [Client().get(address + path).status_code for path in paths]
    assert statuses == [404] * 4
    Run.objects.filter(pk=run.pk).update(published_at=run.created_at)
    assert [Client().get(address + path).status_code for path in paths] == [200] * 4
    stranger = make.browser(make.member())
    assert stranger.post(f"{address}do/retry/").status_code == 404
    assert "Retry what failed" not in stranger.get(address).text
    Template.objects.update(held_out=True)
    assert [stranger.get(address + path).status_code for path in paths] == [200, 200, 404, 404]
    assert "france" not in stranger.get(f"{address}matrix/?search=paris").text
