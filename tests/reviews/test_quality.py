"""Repeated pairs, hasty votes and people who are set aside."""

from datetime import timedelta
from random import Random

import pytest
from django.db import DatabaseError, transaction
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Scope
from battles.actions import cast_vote
from battles.models import Answer, Battle, Vote
from benchmarks.models import Reply
from leaderboard.counting.vote_changes import exclude_votes, include_votes
from leaderboard.models import VoteChange
from reviews import actions
from reviews.errors import PersonSetAside
from reviews.evidence import read_people
from reviews.models import Review, ReviewBattle, ReviewItem
from reviews.sweep import sweep
from tests import make

pytestmark = pytest.mark.django_db


def opened(review: Review, **terms: int) -> Review:
    return actions.open_review(actions.create_review(owner=review.owner, run=review.run, opinions_per_item=9, **terms))


def vote(person: Actor, battle: Battle | None, choice: str = "left") -> Vote:
    assert battle is not None
    return cast_vote(actor=person, battle=battle, choice=Vote.Choice(choice))


def votes_of(person: Actor, review: Review, n: int, choice: str = "left") -> list[Vote]:
    return [vote(person, actions.next_battle(person, review), choice) for _n in range(n)]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviews.actions.repeats._random.random", lambda: 0.0)


def test_pair_comes_again_with_sides_swapped(review: Review, always: None):
    person, steady = make.member(), opened(review, repeats_percent=10)
    votes = votes_of(person, steady, 7)
    assert [vote.excluded_reason for vote in votes] == [""] * 6 + ["repeated"]
    again = ReviewBattle.objects.get(battle=votes[-1].battle)
    first = again.repeats
    assert first is not None
    assert (first.battle, again.review_item) == (votes[0].battle, first.review_item)
    earlier, later = votes[0], votes[-1]
    assert (later.model_left, later.model_right) == (earlier.model_right, earlier.model_left)
    item = ReviewItem.objects.get(pk=again.review_item_id)
    assert (item.opinions, item.leases) == (1, 0)
    [evidence] = read_people(steady)
    assert evidence.votes is not None
    assert (evidence.votes.again, evidence.votes.same, evidence.counted, evidence.not_counted) == (1, 0, 6, 1)


def test_left_random_and_sleeping_people_are_told_apart(review: Review, always: None):
    asleep, always_left, at_random = [make.member() for _n in range(3)]
    steady = opened(review, repeats_percent=10)
    held = actions.next_battle(asleep, steady)
    assert held is not None
    ReviewBattle.objects.update(lease_until=timezone.now() - timedelta(minutes=5))
    Battle.objects.filter(pk=held.pk).update(created_at=F("created_at") - timedelta(minutes=20))
    sweep()
    assert not ReviewItem.objects.filter(review=steady, leases__gt=0).exists()

    votes_of(always_left, steady, 13)  # six new pairs, the same again, and the last one
    dice = Random(1)
    choices = [dice.choice(["left", "right"]) for _n in range(13)]
    for choice in choices:
        vote(at_random, actions.next_battle(at_random, steady), choice)
    assert vote(asleep, actions.next_battle(asleep, steady)).battle == held  # the pair was kept for them

    people = read_people(steady)
    steadiness = {person.reviewer.person: person.votes for person in people}
    left, random, slept = (steadiness[person.key] for person in (always_left, at_random, asleep))
    assert left is not None
    assert random is not None
    assert slept is not None
    # Sides are swapped the second time, so that two different choices name the same answer.
    same = sum(first != again for first, again in zip(choices[:6], choices[6:12], strict=True))
    assert (left.again, left.same, left.left, left.decided) == (6, 0, 13, 13)
    assert (random.again, random.same, random.left, random.decided) == (6, same, choices.count("left"), 13)
    assert 0 < same < 6
    assert (slept.again, slept.median_seconds >= 20 * 60, left.median_seconds < 60) == (0, True, True)
    assert [person.counted for person in people] == [1, 7, 7]


def test_repeats_take_nothing_from_a_persons_limit(review: Review, always: None):
    person, limited = make.member(), opened(review, repeats_percent=10, most_per_person=7)
    votes = votes_of(person, limited, 13)  # each pair but the last comes again
    assert [vote.excluded_reason for vote in votes].count("") == 7
    assert actions.next_battle(person, limited) is None
    page = make.browser(person).get(limited.get_absolute_url()).content.decode()
    assert "7 of 7" in " ".join(page.split())


def test_waiting_repeat_stays_without_a_lease(review: Review, always: None):
    person, steady = make.member(), opened(review, repeats_percent=10)
    votes_of(person, steady, 6)
    battle = actions.next_battle(person, steady)
    assert actions.next_battle(person, steady) == battle
    drawn = ReviewBattle.objects.get(battle=battle)
    assert (drawn.repeats_id is not None, drawn.lease_until) == (True, None)
    assert not ReviewItem.objects.filter(review=steady, leases__gt=0).exists()


def test_hasty_vote_does_not_count(review: Review):
    person, calm = make.member(), opened(review, least_seconds=2)
    hasty = vote(person, actions.next_battle(person, calm))
    assert (hasty.excluded_reason, ReviewItem.objects.filter(review=calm, opinions__gt=0).count()) == ("too_fast", 0)

    battle = actions.next_battle(person, calm)
    Battle.objects.filter(pk=battle.pk).update(created_at=F("created_at") - timedelta(seconds=3))
    assert vote(person, battle).excluded_reason == ""
    assert ReviewItem.objects.filter(review=calm, opinions=1).count() == 1


def test_person_is_set_aside_and_taken_back(review: Review, owner: Actor):
    person, other, open_one = make.member(), make.member(), opened(review)
    votes_of(person, open_one, 3)
    votes_of(other, open_one, 2)
    waiting = actions.next_battle(person, open_one)
    [found, _other] = read_people(open_one)
    page = f"/review/{open_one.public_id}/people/"
    browser = make.browser(owner)
    assert browser.post(f"{page}1/aside/", {"because": "always left"}).status_code == 303

    reasons = Vote.objects.filter(voter=person.key).values_list("excluded_reason", flat=True)
    assert set(reasons) == {"set_aside"}
    assert vote(person, waiting).excluded_reason == "set_aside"
    with pytest.raises(PersonSetAside):
        actions.next_battle(person, open_one)
    found.reviewer.refresh_from_db()
    assert (found.reviewer.because, found.reviewer.evidence["left_percent"]) == ("always left", 100)
    assert sum(ReviewItem.objects.filter(review=open_one).values_list("opinions", flat=True)) == 2
    shown = browser.get(page).content.decode()
    assert "always left" in shown
    assert "show a pair again" not in shown  # this review shows none

    browser.post(f"{page}1/back/")
    assert set(reasons.all()) == {""}
    assert sum(ReviewItem.objects.filter(review=open_one).values_list("opinions", flat=True)) == 6
    assert Vote.objects.filter(voter=other.key, excluded_reason="").count() == 2
    assert actions.next_battle(person, open_one) is not None
    assert set(VoteChange.objects.values_list("kind", flat=True)) == {"excluded", "restored"}


def test_vote_excluded_by_a_moderator_is_asked_for_again(review: Review):
    person, open_one = make.member(), opened(review)
    [cast] = votes_of(person, open_one, 1)
    asked = ReviewItem.objects.filter(review=open_one)

    exclude_votes(Vote.objects.filter(pk=cast.pk), reason="moderation")
    exclude_votes(Vote.objects.filter(pk=cast.pk), reason="operator")
    assert not asked.filter(opinions__gt=0).exists()
    include_votes(Vote.objects.filter(pk=cast.pk))
    assert asked.filter(opinions=1).count() == 1


def test_people_are_shown_to_the_owner_only(review: Review, owner: Actor, client: Client):
    page = f"/review/{review.public_id}/people/"
    votes_of(make.member(), review, 1)
    other = make.browser(make.member())
    assert other.get(page).status_code == 404
    assert other.post(f"{page}1/aside/").status_code == 404
    assert client.get(page).status_code == 302
    assert make.browser(owner).get(page).status_code == 200
    assert make.browser(owner).post(f"{page}9/aside/").status_code == 404
    assert make.browser(owner).post(f"{page}1/delete/").status_code == 404


LONG = "The capital is known by everyone who looked at a map of the world once in their life. " * 2


def test_gold_pair_is_an_answer_against_its_own_half(review: Review, always: None):
    Reply.objects.update(text=LONG)
    person, checked = make.member(), opened(review, gold_percent=10)
    votes = votes_of(person, checked, 7, "tie")
    assert [vote.excluded_reason for vote in votes] == [""] * 6 + ["gold"]
    drawn = ReviewBattle.objects.get(battle=votes[-1].battle)
    texts = dict(Answer.objects.filter(turn__battle=drawn.battle).values_list("side__model", "text"))
    whole = texts.pop(drawn.gold_model_id)
    [half] = texts.values()
    assert (whole, whole.startswith(half), len(half) < len(whole) * 0.6) == (LONG, True, True)
    item = ReviewItem.objects.get(pk=drawn.review_item_id)
    assert (item.opinions, item.leases) == (1, 0)
    [evidence] = read_people(checked)
    assert evidence.votes is not None
    assert (evidence.votes.gold, evidence.votes.gold_right, evidence.votes.again) == (1, 0, 0)


def test_gold_pair_names_no_model_after_the_vote(review: Review, owner: Actor, always: None):
    Reply.objects.update(text=LONG)
    person, checked = make.member(), opened(review, gold_percent=10)
    votes_of(person, checked, 6)
    battle = actions.next_battle(person, checked)
    assert battle is not None
    drawn = ReviewBattle.objects.get(battle=battle)
    side = battle.sides.get(model=drawn.gold_model_id).position
    browser = make.browser(person)
    page = browser.post(f"/battles/{battle.public_id}/vote/", {"choice": side}, headers={"HX-Request": "true"}).text
    assert "both answers were the same one" in page
    assert "Gazelle" not in page
    assert browser.get(f"/api/v1/battles/{battle.public_id}/").json()["sides"] is None
    people = make.browser(owner).get(checked.people_url).content.decode()
    assert "Gold pairs right" in people
    assert read_people(checked)[0].as_json["gold_right"] == 1


def test_short_answers_make_no_gold_pairs(review: Review, always: None):
    person, checked = make.member(), opened(review, gold_percent=10)
    votes = votes_of(person, checked, 7)
    assert {vote.excluded_reason for vote in votes} == {""}
    with pytest.raises(DatabaseError), transaction.atomic():
        ReviewBattle.objects.filter(battle=votes[0].battle).update(gold_model=votes[0].model_left)
    first = ReviewBattle.objects.get(battle=votes[0].battle)
    facts = {"review": checked, "review_item_id": first.review_item_id, "propensity": 1, "pair_propensity": 1}
    with pytest.raises(DatabaseError, match="a_gold_pairs_model_is_of_its_pair"), transaction.atomic():
        ReviewBattle.objects.create(**facts, person="user:0", repeats=first, gold_model=make.model())


def test_owner_sets_people_aside_by_the_api(review: Review, owner: Actor):
    person, open_one = make.member(), opened(review)
    votes_of(person, open_one, 3)
    address = f"/api/v1/reviews/{open_one.public_id}/people/"
    api, other = make.api(owner.user), make.api(make.user())
    [listed] = api.get(address).json()["results"]
    assert (listed["number"], listed["votes_counted"], listed["left_percent"], listed["gold"]) == (1, 3, 100, 0)
    assert person.key not in api.get(address).text

    aside = api.post(f"{address}1/aside/", {"because": "always left"}, "application/json").json()
    assert (aside["votes_counted"], aside["votes_not_counted"], aside["because"]) == (0, 3, "always left")
    assert api.post(f"{address}1/aside/", {}, "application/json").status_code == 409
    back = api.post(f"{address}1/back/").json()
    assert (back["votes_counted"], back["set_aside_at"], back["because"]) == (3, None, "")
    assert api.post(f"{address}2/aside/", {}, "application/json").status_code == 404
    assert make.api(owner.user, scopes=[Scope.READ]).post(f"{address}1/aside/").status_code == 403
    for refused in (other.get(address), other.post(f"{address}1/aside/"), other.post(f"{address}1/back/")):
        assert refused.status_code == 404
    assert make.api(person.user).get(address).status_code == 404
