"""Pages: start of a judging, its results, and judgements side by side."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from django.test import Client

from accounts.actor import Actor
from battles.worker.runner import Engine
from benchmarks.models import Judge, Judging, Run
from benchmarks.worker.runner import drive
from models_registry.models import LanguageModel, Price
from tests import make
from tests.benchmarks import factory
from tests.fake_provider import FakeProvider
from tests.worlds.benchmarks import judged_runs

ESTIMATE = {"estimate": "1"}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def run(member: Actor, models: list[LanguageModel]) -> Run:
    return judged_runs.answered_run(member.user, models, cases=3)


@pytest.fixture
def judge(member: Actor, models: list[LanguageModel]) -> Judge:
    return judged_runs.judge(make.model(slug="cyd"), member.user)


def start_data(judge: Judge, **changes: str) -> dict[str, str]:
    return {"judge": judge.public_id, "plan": "all", "pairs_per_case": "", "orders": "both", "budget": ""} | changes


@pytest.mark.django_db
def test_judging_is_estimated_and_started(run: Run, judge: Judge, browser: Client):
    address = f"/benchmarks/r/{run.public_id}/judge/"
    page = browser.get(address).text
    assert (re.search('name="with_card"[^>]* checked', page) is not None, "the baseline" in page) == (True, False)
    estimated = start_data(judge, with_card="on", **ESTIMATE)
    estimate = browser.post(address, estimated).context["estimate"]
    assert (estimate.questions, estimate.controls) == (6, 40)
    part = browser.post(address, estimated, headers=HTMX).text
    assert ("Questions about control pairs" in part, "<html" in part) == (True, False)
    assert not Judging.objects.exists()
    started = browser.post(address, start_data(judge, orders="random"))
    assert started["Location"] == f"/benchmarks/r/{run.public_id}/judgements/"
    judging = Judging.objects.get()
    assert (judging.judge, judging.subject, judging.orders, judging.with_card) == (judge, run, "random", False)


@pytest.mark.django_db
def test_paid_judge_without_budget_is_refused(run: Run, judge: Judge, browser: Client):
    Price.objects.create(model=judge.model, input_per_million=1, output_per_million=2)
    refused = browser.post(f"/benchmarks/r/{run.public_id}/judge/", start_data(judge))
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["budget"])


@pytest.mark.django_db
def test_run_without_judges_offers_to_make_one(run: Run, browser: Client):
    assert "Make a judge" in browser.get(f"/benchmarks/r/{run.public_id}/judge/").text


@pytest.mark.django_db
def test_judgings_of_others_are_absent(run: Run, judge: Judge, browser: Client):
    judged_runs.judging(judge, run)
    stranger, address = make.browser(make.member()), f"/benchmarks/r/{run.public_id}/"
    paths = ("judge/", "judgements/", f"judgements/{judge.public_id}/")
    assert [stranger.get(f"{address}{path}").status_code for path in paths] == [404] * 3
    other = judged_runs.judge(judge.model, judge.owner_user, name="Unused")
    assert browser.get(f"{address}judgements/{other.public_id}/").status_code == 404


@pytest.mark.django_db
def test_judging_is_followed_and_paused_beside_the_judge(run: Run, judge: Judge, browser: Client):
    judging = judged_runs.judging(judge, run)
    address, engine = f"/benchmarks/r/{run.public_id}/judgements/", f"/benchmarks/r/{judging.run.public_id}/"
    page = browser.get(address).text
    assert (f'data-entrant="{judging.run.entrants.get().pk}"' in page, "data-stream" in page) == (True, True)
    paused = browser.post(f"{engine}do/pause/")
    assert (paused["Location"], browser.get(engine)["Location"]) == (address, address)
    page = browser.get(address, headers=HTMX).text
    assert ("Paused by its owner." in page, "data-stream" in page, "<html" in page) == (True, False, False)
    browser.post(f"{engine}do/cancel/")
    assert "The judge stopped half way." in browser.get(address).text


@pytest.mark.django_db
def test_judge_without_money_shows_how_to_go_on(run: Run, judge: Judge, browser: Client):
    Price.objects.create(model=judge.model, input_per_million=1, output_per_million=2)
    judging = judged_runs.judging(judge, run, budget="1")
    Run.objects.filter(pk=judging.run_id).update(state="paused", reason="budget")
    address, engine = f"/benchmarks/r/{run.public_id}/judgements/", f"/benchmarks/r/{judging.run.public_id}/"
    assert "Raise the budget" in browser.get(address).text
    assert browser.post(f"{engine}budget/", {"to": "0.5"})["Location"] == address
    assert "$1" in browser.get(address).text
    browser.post(f"{engine}budget/", {"to": "2"})
    judging.run.refresh_from_db()
    assert judging.run.budget == 2


@pytest.fixture
def judged(
    fake_provider: FakeProvider, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Run, Judge, Client]]:
    """Return a function that has a run judged by a model of the fake provider."""
    monkeypatch.setattr("benchmarks.worker.runner.IDLE_TICK_S", 0.02)

    def judge_run(upstream: str, **options: object) -> tuple[Run, Judge, Client]:
        actor = make.member()
        models = [make.model(name=f"Model {name}", slug=name) for name in ("ada", "bob")]
        subject = judged_runs.answered_run(actor.user, models, cases=3)
        rubric = judged_runs.SCORES if upstream == "judge-grades" else judged_runs.PAIRWISE
        judge = judged_runs.judge(make.model(upstream, at=fake_provider.base_url), subject.owner, rubric)
        judging = judged_runs.judging(judge, subject, **options)
        engine.run(partial(drive, judging.run.pk), "run")
        factory.wait_until_ended(judging.run)
        return subject, judge, make.browser(actor)

    return judge_run


def judgements(run: Run, judge: Judge) -> str:
    return f"/benchmarks/r/{run.public_id}/judgements/{judge.public_id}/"


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_judgements_show_both_orders_without_names(judged: Callable[..., tuple[Run, Judge, Client]]):
    run, judge, browser = judged("judge-fair", with_card=True)
    page = browser.get(judgements(run, judge))
    assert [len(pair.verdicts) for pair in page.context["pairs"]] == [2, 2, 2]
    for part in ("Answer 1 is better", "They differ.", "Answer 2 was shown first, as A.", "quality 4", "Question 1?"):
        assert part in page.text
    assert "Model ada" not in page.text
    assert "Model ada" in browser.get(f"{judgements(run, judge)}?names=shown").text
    assert "Nothing here" in browser.get(f"{judgements(run, judge)}?only=flips").text
    controls = browser.get(f"{judgements(run, judge)}?only=controls").text
    assert ("control: cut in half" in controls, "Note to the judge" in controls) == (True, True)
    card = browser.get(f"/benchmarks/judges/{judge.public_id}/").context["row"].card
    assert (card.passed, card.n) == (20, 20)
    results = browser.get(f"/benchmarks/r/{run.public_id}/judgements/")
    [one] = results.context["judges"].judges
    assert [(str(entrant.model), line.verdicts) for entrant, line in one.board] == [("Model ada", 6), ("Model bob", 6)]
    for part in ("not yet compared with people", "Verdict changed with the order", "Questions answered"):
        assert part in results.text
    styled = browser.get(f"/benchmarks/r/{run.public_id}/judgements/?styled={judge.public_id}")
    assert ("At equal length" in styled.text, "to tell style from the rest" in styled.text) == (True, True)
    numbers = browser.get(f"/benchmarks/r/{run.public_id}/judgements/?part=numbers", headers=HTMX).text
    assert ("Model ada" in numbers, "Pause" in numbers, "<html" in numbers) == (True, False, False)
    assert "What judges say" in browser.get(f"/benchmarks/r/{run.public_id}/").text
    exported = browser.get(f"/benchmarks/r/{run.public_id}/judgements.jsonl")
    assert exported["Content-Type"] == "application/jsonl"
    assert browser.get(f"/benchmarks/r/{run.public_id}/judgements.exe").status_code == 404


@pytest.mark.django_db
def test_judges_together_show_their_agreement(run: Run, browser: Client):
    for name, rule in (("Fair", "judge-fair"), ("Long", "judge-longer")):
        judge = judged_runs.judge(make.model(slug=rule), run.owner, name=name)
        judged_runs.answer(judged_runs.judging(judge, run), rule)
    page = browser.get(f"/benchmarks/r/{run.public_id}/judgements/")
    assert len(page.context["judges"].jury_board) == 2
    assert ("2 judges together" in page.text, "Krippendorff" in page.text) == (True, True)
    assert page.text.count("Not checked by control pairs yet") == 4  # beside each judge's numbers and the jury's


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
def test_judge_of_one_side_fails_its_card(judged: Callable[..., tuple[Run, Judge, Client]]):
    run, judge, browser = judged("judge-first", with_card=True)
    flips = browser.get(f"{judgements(run, judge)}?only=flips")
    assert len(flips.context["pairs"]) == 3
    assert "changed with the order" in flips.text
    page = browser.get(f"/benchmarks/judges/{judge.public_id}/")
    card = page.context["row"].card
    assert (card.passed, [row.kind for row in card.rows if row.is_failed]) == (
        0,
        ["twins", "halved", "padded", "injected"],
    )
    assert f"Right in 0 of {card.n} control pairs" in " ".join(browser.get("/benchmarks/judges/").text.split())


@pytest.mark.django_db(transaction=True)
@pytest.mark.processes
@pytest.mark.parametrize(("upstream", "shown"), [("judge-prose", "Unparsed"), ("judge-grades", "right")])
def test_unparsed_answers_and_grades_are_shown(
    judged: Callable[..., tuple[Run, Judge, Client]], upstream: str, shown: str
):
    run, judge, browser = judged(upstream)
    page = browser.get(judgements(run, judge))
    assert shown in page.text
    unparsed = browser.get(f"{judgements(run, judge)}?only=unparsed").context["pairs"]
    assert len(unparsed) == (3 if upstream == "judge-prose" else 0)
    results = browser.get(f"/benchmarks/r/{run.public_id}/judgements/").text
    assert ("Do not rely on its numbers" in results) == (upstream == "judge-prose")
    assert ("Mean of the grades" in results) == (upstream == "judge-grades")
