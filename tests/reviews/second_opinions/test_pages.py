import re

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Role, Scope
from battles.models import Battle
from models_registry.models import LanguageModel
from reviews.models import Review
from reviews.second_opinions.actions import ask_others
from reviews.second_opinions.queries import SiteAgreement
from tests import make
from tests.worlds.reviews.second_opinions import asked_about, prefer, voted_battle

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair() -> tuple[LanguageModel, LanguageModel]:
    return make.model(name="Gazelle ada"), make.model(name="Gazelle bob")


@pytest.fixture
def battle(owner: Actor, pair: tuple[LanguageModel, LanguageModel]) -> Battle:
    return voted_battle(owner, models=pair)


def text_of(response: object) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())  # type: ignore[attr-defined]


def test_owner_asks_from_the_battle_and_withdraws(owner: Actor, battle: Battle, client: Client):
    browser, address = make.browser(owner), f"/battles/{battle.public_id}/second-opinion/"
    assert f'href="{address}"' in browser.get(battle.session.get_absolute_url()).content.decode()
    before = text_of(browser.get(address))
    assert "Everyone who has the link can read your prompts" in before
    assert not Review.objects.exists()

    made = browser.post(address)
    assert (made.status_code, made["Location"]) == (303, address)
    review = Review.objects.get()
    page = browser.get(address)
    assert f"http://testserver{review.get_absolute_url()}" in page.content.decode()
    assert "0 opinions of 50" in text_of(page)
    assert "two people agree" not in text_of(page)
    assert "0 opinions of others" in text_of(browser.get(battle.session.get_absolute_url()))

    withdrawn = browser.post(f"/review/{review.public_id}/do/withdraw/")
    assert withdrawn["Location"] == address
    assert client.get(review.get_absolute_url()).status_code == 404
    assert "Make the link" in text_of(browser.get(address))


def test_visitor_votes_and_then_sees_names(
    owner: Actor, battle: Battle, pair: tuple[LanguageModel, LanguageModel], client: Client,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    site = SiteAgreement(0.71, 0.66, 0.76, pairs=300, battles=40, people=80)
    monkeypatch.setattr("reviews.views.second_opinions.site_agreement", lambda: site)
    review = ask_others(actor=owner, battle=battle)
    prefer(make.visitor(), review, pair[1])
    results = f"/review/{review.public_id}/results/"
    for address in (review.get_absolute_url(), results):
        assert "Gazelle" not in client.get(address).content.decode()

    begun = client.post(f"/review/{review.public_id}/next/")
    battle_page = client.get(begun["Location"].partition("#")[0])
    assert "Gazelle" not in battle_page.content.decode()
    shown = Battle.objects.filter(mode="review").latest("pk")
    revealed = client.post(f"/battles/{shown.public_id}/vote/", {"choice": "tie"}, follow=True).content.decode()
    assert "Gazelle ada" in revealed
    assert "second-opinion/" not in revealed

    led_on = client.post(f"/review/{review.public_id}/next/")
    assert led_on["Location"] == results
    spread = text_of(client.get(results))
    assert "Gazelle bob 1 person · 50 %" in spread
    assert "Gazelle ada Choice of the one who asks 0 people · 0 %" in spread
    assert "two people agree about such answers in 71 % (66–76)" in spread
    assert client.get(f"/review/{review.public_id}/agreement/")["Location"] == results


def test_others_see_nothing_of_the_owners_page(battle: Battle, client: Client):
    address = f"/battles/{battle.public_id}/second-opinion/"
    assert client.get(address).status_code == 404
    assert make.browser(make.member()).get(address).status_code == 404
    assert make.browser(make.member()).post(address).status_code == 404


def test_refusal_is_said_on_the_page(owner: Actor, battle: Battle):
    browser = make.browser(owner)
    browser.post(f"/battles/{battle.public_id}/publish/")
    address = f"/battles/{battle.public_id}/second-opinion/"
    assert "Unpublish it first" in text_of(browser.get(address))
    assert browser.post(address).status_code == 409


def test_api_asks_others(owner: Actor, battle: Battle):
    api, address = make.api(owner.user), f"/api/v1/battles/{battle.public_id}/second-opinion/"
    made = api.post(address)
    assert made.status_code == 201, made.json()
    review = made.json()
    assert (review["battle"], review["run"], review["audience"], review["state"], review["items"]) == (
        battle.public_id, None, "everyone", "open", 1
    )  # fmt: skip
    assert api.post(address).json()["id"] == review["id"]

    other = make.api(make.user())
    assert other.get("/api/v1/reviews/").json()["count"] == 0
    base = f"/api/v1/reviews/{review['id']}/"
    assert other.get(base).json()["battle"] is None
    assert other.get(f"{base}results/").status_code == 409
    shown = other.post(f"{base}next/").json()
    other.post(f"/api/v1/battles/{shown['id']}/vote/", {"choice": "tie"}, "application/json")
    assert other.get(f"{base}results/").json()["spread"]["tie"] == 1
    assert api.get(f"{base}results/").json()["votes_counted"] == 1
    assert api.post(f"{base}withdraw/").json()["state"] == "withdrawn"


def test_api_needs_scope_and_owner(owner: Actor, battle: Battle):
    address = f"/api/v1/battles/{battle.public_id}/second-opinion/"
    assert make.api(owner.user, scopes=[Scope.READ, Scope.VOTE]).post(address).status_code == 403
    assert make.api(make.user()).post(address).status_code == 404


def test_teams_manager_votes_before_reading(pair: tuple[LanguageModel, LanguageModel]):
    maker, manager, mate = (make.user() for _n in range(3))
    team = make.team(maker, members={Role.MANAGER: [manager], Role.MEMBER: [mate]})
    review = asked_about(Actor(user=maker), models=pair, place=team)
    prefer(Actor(user=mate), review, pair[0])
    page, results = review.get_absolute_url(), f"/review/{review.public_id}/results/"
    files = [f"/api/v1/reviews/{review.public_id}/{name}" for name in ("results/", "export.jsonl")]
    files.append(f"/review/{review.public_id}/export.csv")

    browser = make.browser(Actor(user=manager))
    invitation = browser.get(page)
    assert "How people voted" not in text_of(invitation)
    assert review.settings_url not in invitation.content.decode()  # the maker's page
    assert "Gazelle" not in text_of(browser.get(results))
    refused = [browser.get(address, headers={"Accept": "application/json"}) for address in files]
    assert [response.status_code for response in refused] == [409, 409, 409]
    assert refused[0].json()["detail"] == "The results so far are shown to you after your own votes."
    assert make.browser(Actor(user=maker)).get(results).context["spread"].people == 1

    assert prefer(Actor(user=manager), review, pair[1]).excluded_reason == ""
    assert "Gazelle bob 1 person · 50 %" in text_of(browser.get(results))
    assert [browser.get(address).status_code for address in files] == [200, 200, 200]
