from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import User
from battles.actions import cast_vote
from battles.models import Vote
from benchmarks.actions.deletion import delete_run
from benchmarks.errors import RunInUse
from benchmarks.models import Entrant, ItemReply, Reply, Run, RunItem
from common.errors import InvalidInput
from reviews import actions
from reviews.errors import NothingToReview, ReviewState
from reviews.models import Review, ReviewBattle, ReviewItem, RunReader
from reviews.sweep import sweep
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


def draft(sample: Sample, **terms: object) -> Review:
    return actions.create_review(owner=sample.run.owner, run=sample.run, **terms)  # type: ignore[arg-type,misc]


def test_pairs_are_whole_answers_to_one_prompt(sample: Sample):
    replies = ItemReply.objects.filter(item__run=sample.run).order_by("item__case__position", "pk")
    cut, named = replies[0].reply_id, replies[3].reply_id
    Reply.objects.filter(pk=cut).update(finish_reason="length")
    Reply.objects.filter(pk=named).update(text="I am Gazelle ada, made by acme.")

    review = actions.open_review(draft(sample))

    assert review.left_out == {"failed": 1, "cut": 1, "names_itself": 1}
    items = ReviewItem.objects.filter(review=review).select_related("first_item__entrant", "second_item__entrant")
    assert len(items) == review.item_count == 5
    for item in items:
        first, second = item.first_item, item.second_item
        assert first is not None
        assert second is not None
        assert (first.case_id, first.repeat) == (second.case_id, second.repeat) == (item.case_id, item.repeat)
        assert (first.entrant.model_id, second.entrant.model_id) == (item.first_model_id, item.second_model_id)
    assert {item.cell for item in items} == {0, 1}  # one pair of models, cases in Europe and far


def cases_of(review: Review) -> set[int | None]:
    pairs = set(ReviewItem.objects.filter(review=review).values_list("case", flat=True))
    return pairs | set(review.answers.values_list("item__case", flat=True))


def test_sample_of_cases_follows_the_seed(sample: Sample):
    opened = [actions.open_review(draft(sample, cases=3)) for _n in range(6)]
    taken = [cases_of(review) for review in opened]
    assert {len(cases) for cases in taken} <= {2, 3}  # one case has no pair
    assert len({frozenset(cases) for cases in taken}) > 1
    again = draft(sample, cases=3)
    Review.objects.filter(pk=again.pk).update(seed=opened[0].seed)
    assert cases_of(actions.open_review(again)) == taken[0]
    whole = [actions.open_review(draft(sample, cases=cases)) for cases in (None, 8, 500)]
    assert [(review.cases, review.item_count) for review in whole] == [(None, 7)] * 3
    assert sum(len(cases) + sum(review.left_out.values()) for cases, review in zip(taken, opened, strict=True)) == 18


def test_sample_of_cases_holds_for_grades(sample: Sample):
    review = actions.open_review(draft(sample, cases=2, asks_for="stars"))
    assert len(cases_of(review)) == 2
    assert review.item_count + sum(review.left_out.values()) == 4


def test_sample_is_a_term_of_the_review(sample: Sample, browser: Client):
    review = draft(sample)
    address, terms = f"/api/v1/reviews/{review.public_id}/", {"content_type": "application/json"}
    assert browser.patch(address, {"cases": 0}, **terms).status_code == 400
    assert browser.patch(address, {"cases": 4}, **terms).json()["cases"] == 4
    form = browser.get(review.settings_url).context["form"]
    assert form["cases"].value() == 4
    values = {name: form[name].value() for name in form.fields}
    data = {name: value for name, value in values.items() if value is not None and value is not False}
    assert browser.post(review.settings_url, {**data, "cases": "2"}).status_code == 303
    review.refresh_from_db()
    assert review.cases == 2
    actions.open_review(review)
    assert "2 questions drawn at random" in browser.get(review.settings_url).content.decode()
    refused = browser.patch(address, {"cases": None}, **terms)
    assert refused.json()["code"] == "wrong_state"
    with pytest.raises(DatabaseError), transaction.atomic():
        Review.objects.filter(pk=review.pk).update(cases=None)


@pytest.mark.parametrize("asks_for", ["pairs", "stars"])
def test_too_many_pairs_are_refused_with_the_remedy(sample: Sample, monkeypatch: pytest.MonkeyPatch, asks_for: str):
    monkeypatch.setattr(Review, "MAX_ITEMS", 5)
    with pytest.raises(NothingToReview, match="Ask about fewer questions"):
        actions.open_review(draft(sample, plan="regular", asks_for=asks_for))
    assert actions.open_review(draft(sample, asks_for=asks_for, cases=2)).state == "open"


def test_answers_with_own_parameters_only(sample: Sample):
    Entrant.objects.filter(run=sample.run, position=1).update(parameters={"temperature": 1.5})
    with pytest.raises(NothingToReview):
        actions.open_review(draft(sample))
    assert Review.objects.get().state == "draft"


def test_imported_answers_make_no_pair(sample: Sample):
    Entrant.objects.filter(run=sample.run, position=1).update(model=None, imported="a file")
    with pytest.raises(NothingToReview):
        actions.open_review(draft(sample))


def test_run_under_way_is_not_reviewed(sample: Sample):
    sample.run.state = Run.State.RUNNING
    with pytest.raises(ReviewState):
        draft(sample)


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"audience": "team"}, "audience"),
        ({"closes_at": timezone.now() - timedelta(minutes=1)}, "closes_at"),
        (
            {"opens_at": timezone.now() + timedelta(days=2), "closes_at": timezone.now() + timedelta(days=1)},
            "closes_at",
        ),
    ],
)
def test_contradicting_terms_are_refused(sample: Sample, terms: dict[str, object], field: str):
    with pytest.raises(InvalidInput) as refused:
        draft(sample, **terms)
    assert list(refused.value.fields or {}) == [field]


def test_held_out_questions_are_shown_to_the_owner_only(sample: Sample):
    sample.run.version.template.held_out = True
    with pytest.raises(InvalidInput):
        draft(sample, audience="everyone")
    assert draft(sample, audience="owner").audience == "owner"


def test_database_keeps_the_terms_of_an_open_review(review: Review):
    for change in ({"opinions_per_item": 7}, {"plan": "regular"}, {"hides_results": False}, {"state": "draft"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Review.objects.filter(pk=review.pk).update(**change)
    with pytest.raises(ReviewState):
        actions.change_review(review, opinions_per_item=7)
    assert actions.change_review(review, title="Better").title == "Better"


def test_review_closes_at_its_deadline(sample: Sample):
    review = actions.open_review(draft(sample, closes_at=timezone.now() + timedelta(hours=1)))
    sweep()
    review.refresh_from_db()
    assert review.takes_votes
    Review.objects.filter(pk=review.pk).update(closes_at=timezone.now() - timedelta(seconds=1))

    sweep()
    review.refresh_from_db()
    assert (review.state, review.ended_by, review.shows_results) == ("closed", "deadline", True)


def test_review_opens_at_its_time(sample: Sample):
    review = actions.open_review(draft(sample, opens_at=timezone.now() + timedelta(hours=1)))
    assert (review.state, review.takes_votes) == ("open", False)


@pytest.mark.django_db(transaction=True)
def test_review_closes_when_every_pair_has_its_opinions(sample: Sample):
    review, person = actions.open_review(draft(sample)), make.member()
    for _n in range(review.item_count):
        battle = actions.next_battle(person, review)
        assert battle is not None
        cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    review.refresh_from_db()
    assert (review.state, review.ended_by) == ("closed", "quota")


def test_withdrawn_review_has_no_results(review: Review):
    actions.withdraw_review(review)
    review.refresh_from_db()
    assert (review.state, review.takes_votes, review.shows_results) == ("withdrawn", False, False)
    with pytest.raises(ReviewState):
        actions.close_review(review)


def test_run_with_open_review_is_not_deleted(review: Review, sample: Sample):
    with pytest.raises(RunInUse):
        delete_run(sample.run)
    assert RunItem.objects.filter(run=sample.run).exists()


def test_closed_review_outlives_its_run(review: Review, sample: Sample):
    person = make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    actions.close_review(review)
    draft(sample)

    delete_run(sample.run)

    [kept] = Review.objects.all()
    assert (kept.run, kept.item_count, kept.items.count()) == (None, 7, 7)
    assert ReviewBattle.objects.get().battle == battle
    texts = battle.turns.get().answers.values_list("text", flat=True)
    assert all(texts)


def test_account_takes_its_reviews_along(review: Review, owner: Actor, django_capture_on_commit_callbacks):
    from accounts.actions import delete_account

    person = make.member()
    battle = actions.next_battle(person, review)
    assert battle is not None
    cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    RunReader.objects.create(run=review.run, person=person.key)

    delete_account(person.user)
    assert ReviewBattle.objects.get().person.startswith("deleted:")
    assert not RunReader.objects.exists()
    delete_account(owner.user)
    assert not Review.objects.exists()
    assert not User.objects.filter(pk=owner.user.pk).exists()
    assert Vote.objects.count() == 1
