"""The stop rule of a review: people who ended decide, and what is decided is asked no longer."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone

from accounts.actor import Actor
from battles.actions import cast_vote
from battles.models import Battle, Vote
from common.errors import InvalidInput
from leaderboard.counting.vote_changes import exclude_votes
from models_registry.models import LanguageModel
from reviews import actions
from reviews.actions.stopping import end_away_people
from reviews.errors import ReviewState
from reviews.models import Contrast, Review, ReviewBattle, Reviewer
from reviews.sweep import sweep
from tests import make
from tests.reviews.ruling import people, prefer, ruled, state
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db
PAIRS = 7


def text_of(response: HttpResponse) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_clear_difference_closes_the_review(sample: Sample, models: list[LanguageModel]):
    review = ruled(sample)
    people(review, 7, models[0])
    assert (state(review), review.state) == (("not_decided", 7, 7), "open")  # fewer than eight
    people(review, 1, models[1])
    assert review.state == "open"
    while review.state == "open" and Reviewer.objects.count() < 40:
        people(review, 1, models[0])

    contrast = review.contrasts.get()
    assert (review.ended_by, contrast.decision, contrast.decided_after) == ("decided", "better", contrast.people)
    assert 8 < contrast.people < 20
    assert contrast.mean == pytest.approx(1 - 1 / contrast.people)
    assert 0.5 < contrast.low < contrast.mean < contrast.high


def test_equal_votes_are_equal_or_not_decided(sample: Sample):
    review = ruled(sample, stop_share=75)
    people(review, 8, "tie")
    assert state(review) == ("not_decided", 8, 8)
    people(review, 12, "tie")
    assert (state(review)[0], review.ended_by) == ("equal", "decided")


def test_person_in_the_middle_moves_nothing(sample: Sample, models: list[LanguageModel]):
    review, person = ruled(sample), make.member()
    prefer(review, person, models[0], 3)
    sweep()
    assert state(review) == ("not_decided", 0, 0)
    Reviewer.objects.update(away_at=timezone.now() - timedelta(seconds=1))
    assert actions.next_battle(person, review) is not None  # came back before the round
    sweep()
    assert state(review) == ("not_decided", 0, 0)

    Reviewer.objects.update(away_at=timezone.now() - timedelta(seconds=1))
    sweep()
    assert state(review) == ("not_decided", 1, 3)
    prefer(review, person, models[1], 2)  # after the end: for the board alone
    people(review, 1, models[0])
    assert state(review) == ("not_decided", 2, 4)
    assert Vote.objects.filter(excluded_reason="").count() == 6


@pytest.mark.parametrize("limit", [None, 3])
def test_person_ends_with_the_last_pair(
    sample: Sample, models: list[LanguageModel], limit: int | None, django_capture_on_commit_callbacks
):
    review, person = ruled(sample, most_per_person=limit), make.member()
    for last in (False, True):
        with django_capture_on_commit_callbacks(execute=True):
            prefer(review, person, models[1], 1 if last else (limit or PAIRS) - 1)
        assert (Reviewer.objects.get().ended_at is not None) == last
    assert state(review) == ("not_decided", 1, limit or PAIRS)


def test_setting_aside_decides_anew(sample: Sample, models: list[LanguageModel], owner: Actor):
    review = ruled(sample, [["ada", "bob"]], opinions_per_item=9)
    for_bob = people(review, 3, models[1])
    people(review, 5, models[0])
    before = state(review)
    person = Reviewer.objects.get(person=for_bob[0].key)
    actions.set_aside(person, by=owner.user, because="", evidence={})
    assert (before, state(review)) == (("not_decided", 8, 8), ("not_decided", 7, 7))
    assert review.contrasts.get().mean == pytest.approx(5 / 7)
    actions.take_back(person, by=owner.user)
    assert state(review) == before


def test_excluding_a_vote_decides_anew(
    sample: Sample, models: list[LanguageModel], django_capture_on_commit_callbacks: Callable[..., Any]
):
    review = ruled(sample, [["ada", "bob"]], opinions_per_item=9)
    [first, *_rest] = people(review, 8, models[0])
    assert state(review)[1] == 8
    with django_capture_on_commit_callbacks(execute=True):
        exclude_votes(Vote.objects.filter(voter=first.key), reason="moderation")
    assert state(review) == ("not_decided", 7, 7)


def test_votes_that_do_not_count_decide_nothing(sample: Sample, owner: Actor, models: list[LanguageModel]):
    review = ruled(sample)
    prefer(review, owner, models[0], 2)
    people(review, 1, models[0])
    Vote.objects.filter(excluded_reason="").update(excluded_reason="moderation")
    people(review, 1, "both_bad")
    contrast = review.contrasts.get()
    assert (contrast.people, contrast.opinions, contrast.mean) == (1, 1, 0.5)


def test_decided_contrast_is_drawn_no_longer(three: Sample):
    review = ruled(three, [["cat", "dog"], ["cat", "eel"]], opinions_per_item=1)
    first, second = review.contrasts.order_by("pk")
    Contrast.objects.filter(pk=first.pk).update(decision="better", decided_after=8)
    person, drawn = make.member(), set()
    while (battle := actions.next_battle(person, review)) is not None:
        drawn.add(frozenset(battle.sides.values_list("model__slug", flat=True)))
        cast_vote(actor=person, battle=battle, choice=Vote.Choice.TIE)
    assert drawn == {frozenset(("cat", "eel")), frozenset(("dog", "eel"))}
    # Every pair that is still drawn has its opinions.
    actions.lifecycle.close_complete(review)
    review.refresh_from_db()
    assert (review.state, review.ended_by) == ("closed", "quota")
    second.refresh_from_db()
    assert second.people == 1  # the quota ends those under way


def test_close_by_the_owner_leaves_the_middle_out(sample: Sample, models: list[LanguageModel]):
    review = ruled(sample)
    prefer(review, make.member(), models[0], 2)
    actions.close_review(review)
    end_away_people()
    assert state(review) == ("not_decided", 0, 0)
    assert not Reviewer.objects.filter(away_at__isnull=False).exists()


def test_deadline_ends_all_people(sample: Sample, models: list[LanguageModel]):
    review = ruled(sample, closes_at=timezone.now() + timedelta(hours=1))
    prefer(review, make.member(), models[0], 2)
    Review.objects.filter(pk=review.pk).update(closes_at=timezone.now())
    sweep()
    assert state(review) == ("not_decided", 1, 2)


def test_baseline_is_compared_with_all(three: Sample):
    review = ruled(three, [["eel", "cat"]], baseline="cat")
    pairs = review.contrasts.order_by("pk").values_list("first_model__slug", "second_model__slug")
    assert list(pairs) == [("eel", "cat"), ("dog", "cat")]


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"plan": "adaptive"}, "stop_share"),
        ({"contrasts": []}, "contrasts"),
        ({"stop_share": None}, "stop_share"),
        ({"contrasts": [["ada", "ada"]]}, "contrasts"),
        ({"contrasts": [["ada", "elsewhere"]]}, "contrasts"),
    ],
)
def test_contradicting_rules_are_refused(sample: Sample, terms: dict[str, object], field: str):
    with pytest.raises(InvalidInput) as refused:
        ruled(sample, **terms)
    assert list(refused.value.fields or {}) == [field]


def test_contrast_without_answers_does_not_open(three: Sample):
    ReviewBattle.objects.all().delete()
    three.run.items.filter(entrant__model__slug="eel").update(state="failed", error="cut")
    with pytest.raises(InvalidInput, match="cat and eel"):
        ruled(three, [["cat", "eel"]])


def test_rule_is_fixed_at_the_opening(sample: Sample):
    terms = {"stop_share": 60, "contrasts": [["ada", "bob"]]}
    review = actions.create_review(owner=sample.run.owner, run=sample.run, **terms)
    actions.change_review(review, stop_share=70)
    assert review.contrasts.count() == 1
    actions.change_review(review, stop_share=None)
    assert review.contrasts.count() == 0
    actions.change_review(review, **terms)
    review = actions.open_review(review)
    for change in ({"stop_share": 70}, {"stop_level": 1}, {"contrasts": [["bob", "ada"]]}, {"baseline": "ada"}):
        with pytest.raises(ReviewState):
            actions.change_review(review, **change)
    assert actions.change_review(review, **terms).stop_share == 60


def test_deadline_stays_where_results_are_shown(sample: Sample, owner: Actor):
    soon, later = (timezone.now() + timedelta(hours=hours) for hours in (1, 2))
    shown, hidden = (ruled(sample, hides_results=hides, closes_at=later) for hides in (False, True))
    for moment in (soon, None):
        with pytest.raises(ReviewState, match="deadline stays"):
            actions.change_review(shown, closes_at=moment)
        assert actions.change_review(hidden, closes_at=moment).closes_at == moment
    assert actions.change_review(shown, title="Better", closes_at=later).title == "Better"
    plain = {"owner": owner.user, "run": sample.run, "hides_results": False, "closes_at": later}
    without_rule = actions.open_review(actions.create_review(**plain))
    assert actions.change_review(without_rule, closes_at=soon).closes_at == soon

    browser = make.browser(owner)
    page = browser.get(shown.settings_url)
    assert list(page.context["form"].fields) == ["title"]
    assert "The deadline stays" in text_of(page)
    browser.post(shown.settings_url, {"title": "Best", "closes_at": "2030-01-01T12:00"})
    in_api = browser.patch(f"/api/v1/reviews/{shown.public_id}/", {"closes_at": None}, "application/json")
    assert (in_api.status_code, in_api.json()["code"]) == (409, "wrong_state")
    shown.refresh_from_db()
    assert (shown.title, shown.closes_at) == ("Best", later)


def test_pages_show_the_rule_and_its_decisions(sample: Sample, owner: Actor, models: list[LanguageModel]):
    browser, address = make.browser(owner), f"/reviews/new/?run={sample.run.public_id}"
    terms = {
        "title": "Which capital?", "audience": "link", "expected_people": "40", "plan": "all", "opinions_per_item": "9",
        "repeats_percent": "0", "least_seconds": "0", "stop_share": "60 : 40", "contrasts": ["ada|bob"],
        "hides_results": "on",
    }  # fmt: skip
    for wrong in ({"stop_share": "60 : 30"}, {"stop_share": "50"}, {"contrasts": []}, {"plan": "adaptive"}):
        assert browser.post(address, {**terms, **wrong}).status_code == 422
    assert browser.post(address, terms).status_code == 303
    review = Review.objects.get()
    assert (review.stop_share, review.stop_level, review.contrasts.count()) == (60, 5, 1)
    draft = browser.get(review.settings_url).content.decode()
    assert 'value="60 : 40"' in draft
    assert re.search(r'value="ada\|bob"[^>]* checked', draft)
    browser.post(f"/review/{review.public_id}/do/open/")
    review.refresh_from_db()

    visitor = make.visitor()
    actions.join_review(visitor, review, code=review.code)
    invitation = text_of(make.browser(visitor).get(review.get_absolute_url()))
    assert "decided as better, worse, or equal within 60 : 40" in invitation
    assert "Gazelle ada – Gazelle bob ." in invitation
    prefer(review, visitor, models[0], 2)
    assert "0 of 1 pair of models decided by the stop rule" in text_of(browser.get(review.settings_url))
    better = {"decision": "better", "decided_after": 9, "people": 12, "opinions": 30, "mean": 0.81}
    Contrast.objects.update(**better)
    assert "1 of 1 pair of models decided" in text_of(browser.get(review.settings_url))
    assert "81 %" not in text_of(browser.get(f"/review/{review.public_id}/results/"))
    actions.close_review(review)  # decides anew
    assert review.contrasts.get().people == 0
    Contrast.objects.update(**better, low=0.55, high=0.951)
    results = text_of(browser.get(f"/review/{review.public_id}/results/"))
    assert "Gazelle ada – Gazelle bob better 81 % (55–95) 12 30" in results
    assert "like these. 1 person by link" in results


def test_api_has_the_rule_and_its_decisions(sample: Sample, owner: Actor):
    api, run = make.api(owner.user), sample.run.public_id
    body = {"run": run, "stop_share": 60, "stop_level": 1, "baseline": "bob"}
    review = api.post("/api/v1/reviews/", body, "application/json").json()
    assert (review["stop_share"], review["stop_level"], review["contrasts"]) == (60, 1, [["ada", "bob"]])
    address = f"/api/v1/reviews/{review['id']}/"
    refused = api.patch(address, {"plan": "adaptive"}, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["stop_share"])
    api.post(f"{address}open/")
    progress = api.get(f"{address}progress/").json()
    assert (progress["contrasts"], progress["contrasts_decided"]) == (1, 0)
    assert api.get(f"{address}results/").status_code == 409
    api.post(f"{address}close/")
    assert api.get(f"{address}results/").json()["contrasts"] == [
        {
            "first_model": "ada", "second_model": "bob", "decision": "not_decided", "decided_after": None, "people": 0,
            "opinions": 0, "mean": None, "low": 0.0, "high": 1.0,
        }
    ]  # fmt: skip
    [listed] = api.get("/api/v1/reviews/").json()["results"]
    assert listed["contrasts"] == [["ada", "bob"]]


@pytest.mark.django_db(transaction=True)
def test_people_who_end_at_once_close_once(sample: Sample, models: list[LanguageModel]):
    review = ruled(sample)
    ended = [make.member() for _n in range(12)]
    for person in ended:
        prefer(review, person, models[0])
    Reviewer.objects.update(away_at=timezone.now() - timedelta(seconds=1))

    def end(_process: int) -> None:
        try:
            end_away_people()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(end, range(4)))
    review.refresh_from_db()
    assert (state(review), review.ended_by) == (("better", 12, 12), "decided")
    assert Battle.objects.filter(series=review.public_id).count() == 12
