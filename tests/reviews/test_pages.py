import re

import pytest
from django.test import Client

from accounts.actor import Actor
from battles.models import Battle, Vote
from reviews import actions
from reviews.models import Review, ReviewBattle
from tests import make
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_owner_asks_people_from_a_run(owner: Actor, sample: Sample):
    browser = make.browser(owner)
    run_page = browser.get(f"/benchmarks/r/{sample.run.public_id}/").content.decode()
    address = f"/reviews/new/?run={sample.run.public_id}"
    assert f'href="{address}"' in run_page

    form = browser.get(address)
    assert 'value="First look"' in form.content.decode()
    terms = {
        "title": "Which capital?", "instructions": "Prefer **short** answers.", "audience": "members",
        "asks_for": "pairs", "plan": "all", "opinions_per_item": "2", "takes_ties": "on",
        "hides_results": "on", "closes_at": "2030-01-01T12:00", "repeats_percent": "10", "least_seconds": "2",
    }  # fmt: skip
    refused = browser.post(address, {**terms, "opinions_per_item": "0"})
    assert refused.status_code == 422
    made = browser.post(address, terms)
    review = Review.objects.get()
    assert (made.status_code, made["Location"]) == (303, f"/review/{review.public_id}/settings/")
    assert (review.state, review.opinions_per_item, review.owner) == ("draft", 2, owner.user)
    assert (review.takes_ties, review.takes_both_bad) == (True, False)
    assert make.browser(make.member()).get(review.get_absolute_url()).status_code == 404

    browser.post(f"/review/{review.public_id}/do/open/")
    settings = text_of(browser.get(review.settings_url).content.decode())
    assert "0 of 14 opinions" in settings
    assert "1 · an answer failed, or was never asked for" in settings
    page = browser.get(f"/benchmarks/r/{sample.run.public_id}/").content.decode()
    assert f'href="{review.get_absolute_url()}"' in page


def test_member_votes_from_the_review_to_its_end(review: Review):
    browser = make.browser(make.member())
    page = browser.get("/reviews/").content.decode()
    assert f'href="{review.get_absolute_url()}"' in page
    shown = text_of(browser.get(review.get_absolute_url()).content.decode())
    assert "0 of 7" in shown

    address = f"/review/{review.public_id}/next/"
    for _n in range(7):
        to_battle = browser.post(address)
        assert to_battle.status_code == 303
        battle_page = browser.get(to_battle["Location"].partition("#")[0])
        assert "Two anonymous models" in battle_page.content.decode()
        battle = Battle.objects.latest("pk")
        revealed = browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}, follow=True)
        assert f'action="{address}"' in revealed.content.decode()

    assert "7 of 7" in text_of(browser.get(review.get_absolute_url()).content.decode())
    assert Vote.objects.filter(series=review.public_id).count() == 7


def test_nothing_left_is_said(review: Review):
    limited = actions.open_review(actions.create_review(owner=review.owner, run=review.run, most_per_person=1))
    person = make.member()
    browser = make.browser(person)
    browser.post(f"/review/{limited.public_id}/next/")
    browser.post(f"/battles/{Battle.objects.get().public_id}/vote/", {"choice": "tie"})

    done = browser.post(f"/review/{limited.public_id}/next/", follow=True)
    assert "Nothing is left for you now" in done.content.decode()


def test_visitors_vote_only_where_everybody_is_asked(owner: Actor, sample: Sample, client: Client):
    open_to = {}
    for audience in ("owner", "members", "everyone"):
        made = actions.create_review(owner=owner.user, run=sample.run, audience=audience)
        open_to[audience] = actions.open_review(made)
    statuses = {name: client.get(review.get_absolute_url()).status_code for name, review in open_to.items()}
    assert statuses == {"owner": 404, "members": 404, "everyone": 200}

    begun = client.post(f"/review/{open_to['everyone'].public_id}/next/")
    assert begun.status_code == 303
    battle = Battle.objects.get()
    assert client.get(begun["Location"].partition("#")[0]).status_code == 200
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "right"})
    assert ReviewBattle.objects.get().person.startswith("visitor:")
    assert Vote.objects.get().series == open_to["everyone"].public_id


def test_settings_are_its_owners(review: Review):
    other = make.browser(make.member())
    assert other.get(review.settings_url).status_code == 404
    for move in ("open", "close", "withdraw", "delete"):
        assert other.post(f"/review/{review.public_id}/do/{move}/").status_code == 404
    review.refresh_from_db()
    assert review.state == "open"


def test_open_review_keeps_its_terms(review: Review, owner: Actor):
    browser = make.browser(owner)
    browser.post(review.settings_url, {"title": "Better title", "opinions_per_item": "9", "closes_at": ""})
    review.refresh_from_db()
    assert (review.title, review.opinions_per_item) == ("Better title", 1)


def test_review_without_ties_takes_none(review: Review):
    strict = actions.open_review(
        actions.create_review(owner=review.owner, run=review.run, takes_ties=False, takes_both_bad=False)
    )
    browser = make.browser(make.member())
    begun = browser.post(f"/review/{strict.public_id}/next/")
    page = browser.get(begun["Location"].partition("#")[0]).content.decode()
    assert [choice for choice in Vote.Choice.values if f'value="{choice}"' in page] == ["left", "right"]
    assert f'href="{strict.get_absolute_url()}" data-instructions' in page
    address = f"/api/v1/battles/{Battle.objects.get().public_id}/vote/"
    refused = browser.post(address, {"choice": "tie"}, "application/json")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["choice"])
    assert browser.post(address, {"choice": "left"}, "application/json").status_code == 201
