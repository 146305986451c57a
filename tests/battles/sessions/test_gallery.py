"""The gallery: only what its owners listed, and nothing of what they withdrew."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actor import Actor
from battles import actions
from battles.gallery.listing import PER_PAGE
from battles.models import Battle, GalleryTombstone, Share, Vote
from battles.prompting.lineup import BattleRequest
from tests import make

pytestmark = pytest.mark.django_db
API = "/api/v1/gallery/"


@pytest.fixture(autouse=True)
def _gallery(settings):
    settings.ARENA_GALLERY = True


@pytest.fixture
def actor() -> Actor:
    return make.visitor()


@pytest.fixture
def owner(actor: Actor) -> Client:
    return make.browser(actor)


def published(
    actor: Actor, choice: str = "left", *, prompt: str = "Why?", is_listed: bool = True, **labels: object
) -> Battle:
    battle = make.battle(make.model(), make.model(), actor=actor, prompt=prompt)
    make.complete_answers(battle)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice(choice))
    Vote.objects.filter(battle=battle).update(**{"categories": [], "language": "und", **labels})
    actions.publish(battle=battle)
    if is_listed:
        actions.list_in_gallery(battle=battle)
    return battle


def address(battle: Battle) -> str:
    return Share.objects.get(battle=battle).get_absolute_url()


def found(query: str = "") -> list[str]:
    """Return beginnings of the prompts that a visitor finds on the page, which are those of the API."""
    response = Client().get(f"{API}{query}")
    assert response.status_code == 200, response.content
    prompts = [entry["prompt"] for entry in response.json()["results"]]
    page = Client().get(f"/gallery/{query}").text
    assert all(f">{prompt}</a>" in page for prompt in prompts)
    assert page.count("<time") == len(prompts)
    return prompts


# ---- Consent ----


def test_publishing_alone_lists_nothing(owner: Client, actor: Actor):
    battle = published(actor, is_listed=False)
    page = owner.get(battle.session.get_absolute_url()).text
    assert found() == []
    assert "List it in the gallery" in page
    url = f"/battles/{battle.public_id}/gallery/"
    assert owner.post(url, {"listed": "1"}).status_code == 302
    assert found() == ["Why?"]
    assert "Take it out of the gallery" in owner.get(battle.session.get_absolute_url()).text
    assert owner.post(url, {"listed": "0"}).status_code == 302
    assert found() == []
    assert Client().get(address(battle)).status_code == 200


def test_ticked_box_lists_what_is_published(owner: Client, actor: Actor):
    battle = published(actor, is_listed=False)
    actions.withdraw(battle=battle)
    assert 'name="listed"' in owner.get(battle.session.get_absolute_url()).text
    owner.post(f"/battles/{battle.public_id}/publish/", {"listed": "1"})
    assert found() == ["Why?"]
    owner.post(f"/battles/{battle.public_id}/publish/")  # later turns: the box is not there
    assert found() == ["Why?"]


def test_only_the_owner_lists_a_published_battle(owner: Client, actor: Actor):
    battle = published(actor, is_listed=False)
    path = f"/api/v1/battles/{battle.public_id}/gallery/"
    for stranger in (Client(), make.browser(make.visitor()), make.browser(make.member())):
        assert stranger.post(path).status_code == stranger.delete(path).status_code == 404
        assert stranger.post(f"/battles/{battle.public_id}/gallery/", {"listed": "1"}).status_code == 404
    assert owner.post(path).json()["listed"] is True
    assert owner.delete(path).status_code == 204
    actions.withdraw(battle=battle)
    refused = owner.post(path)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_published")


def test_arena_without_gallery_has_no_page_and_no_links(owner: Client, actor: Actor, settings):
    battle = published(actor)
    settings.ARENA_GALLERY = False
    path = f"/battles/{battle.public_id}/gallery/"
    for response in (
        owner.get("/gallery/"),
        owner.get(API),
        owner.post(f"/api/v1{path}"),
        owner.post(path, {"listed": 1}),
    ):
        assert response.status_code == 404
    assert "/gallery/" not in owner.get("/").text
    assert "List it in the gallery" not in owner.get(battle.session.get_absolute_url()).text


# ---- Search ----


def test_gallery_finds_by_model_vote_category_and_language(actor: Actor):
    left = published(actor, "left", prompt="First", categories=["coding"], language="fr")
    right = published(actor, "right", prompt="Second", categories=["coding", "maths"])
    published(actor, "tie", prompt="Third", language="fr")
    first, second = (battle.sides.get(position="left").model.slug for battle in (left, right))
    assert found() == ["Third", "Second", "First"]
    assert found("?category=coding") == ["Second", "First"]
    assert found("?category=coding&language=fr") == ["First"]
    assert found("?language=fr") == ["Third", "First"]
    assert found("?vote=tie") == ["Third"]
    assert (
        found(f"?model={first}") == found(f"?model={first}&vote=won") == found(f"?model={first}&vote=left") == ["First"]
    )
    assert found(f"?model={second}&vote=lost") == ["Second"]
    assert found(f"?model={second}&vote=won") == found(f"?model={first}&vote=lost") == []


def test_unvoted_comparison_is_found_by_its_own_labels(actor: Actor):
    slugs = tuple(make.model(name=name).slug for name in ("Ada", "Bob", "Cyd"))
    battle = actions.start_session(
        actor=actor, prompt="Compare", battle_request=BattleRequest(Battle.Mode.COMPARE, slugs)
    )
    make.complete_answers(battle)
    Battle.objects.filter(pk=battle.pk).update(categories=["maths"], language="de")
    actions.publish(battle=battle)
    actions.list_in_gallery(battle=battle)
    assert found(f"?category=maths&language=de&model={slugs[2]}") == ["Compare"]
    [entry] = Client().get(API).json()["results"]
    assert (entry["vote"], [model["name"] for model in entry["models"]]) == (None, ["Ada", "Bob", "Cyd"])


@pytest.mark.parametrize(
    "query", ["?model=unknown", "?vote=won", "?vote=first", "?category=~x", "?language=xx", "?model=%ED%A0%80"]
)
def test_unknown_filter_is_refused(actor: Actor, query: str):
    published(actor)
    assert Client().get(f"/gallery/{query}").status_code == 422
    assert Client().get(f"{API}{query}").status_code == 400


def test_pages_have_each_battle_once_in_fixed_queries(actor: Actor, django_assert_num_queries):
    battle = published(actor)
    Client().get(API)
    with CaptureQueriesContext(connection) as of_one:
        Client().get(API)
    share = Share.objects.get(battle=battle)
    copies = [make.answered_battle(make.model(), make.model(), actor=actor) for _ in range(PER_PAGE + 4)]
    same_time = [Share(battle=copy, turn_count=1, listed_at=share.listed_at) for copy in copies[:12]]
    later = [Share(battle=copy, turn_count=1, listed_at=timezone.now()) for copy in copies[12:]]
    Share.objects.bulk_create([*same_time, *later])
    for days in (1, 2):
        GalleryTombstone.objects.create(address=f"old-{days}", listed_at=share.listed_at - timedelta(days=days))
    with django_assert_num_queries(len(of_one)):
        first = Client().get(API).json()
    rest = Client().get(first["next"]).json()
    ids = [entry["id"] for page in (first, rest) for entry in page["results"]]
    assert (len(first["results"]), len(ids), len(set(ids)), rest["next"]) == (
        PER_PAGE,
        PER_PAGE + 5,
        PER_PAGE + 5,
        None,
    )
    assert [stone["id"] for stone in rest["withdrawn"]] == ["old-1", "old-2"]
    assert Client().get(f"{API}?cursor=yesterday").status_code == 400
    assert Client().get("/gallery/?after=yesterday").status_code == 200


def test_entry_has_nothing_of_its_person(actor: Actor):
    battle = published(actor, prompt="<script>alert(1)</script> & why?")
    actions.update_session(battle.session, title="my secret title")
    page, payload = Client().get("/gallery/").text, Client().get(API).text
    for secret in ("my secret title", battle.public_id, battle.session.public_id, str(actor.visitor.key)):
        assert secret not in page + payload
    assert "<script>alert" not in page


# ---- Withdrawal ----


@pytest.mark.parametrize("way", ["withdraw", "delete", "hide", "discard"])
def test_withdrawn_page_is_gone_and_its_text_is_nowhere(actor: Actor, way: str):
    battle = published(actor, prompt="A prompt to forget", categories=["coding"])
    url, listed = address(battle), Share.objects.get().public_id
    match way:
        case "withdraw":
            actions.withdraw(battle=battle)
        case "delete":
            actions.delete_session(battle.session)
        case "hide":
            Battle.objects.update(hidden_at=timezone.now())
        case "discard":
            actions.discard_session(battle.session)
    for gone in (Client().get(url), Client().get(f"{url}export/"), Client().get(f"/api/v1/shares/{listed}/")):
        assert (gone.status_code, "withdrawn" in gone.text) == (410, True)
        assert "no-store" in gone["Cache-Control"]
    page, payload = Client().get("/gallery/").text, Client().get(API).json()
    names = [side.model.name for side in battle.sides.all()]
    for text in ("A prompt to forget", *names, "Coding", listed):
        assert text not in page
    assert payload["results"] == []
    assert [stone["id"] for stone in payload["withdrawn"]] == ([listed] if way in ("withdraw", "delete") else [])
    assert ("was withdrawn on" in page) == (way in ("withdraw", "delete"))


def test_tombstone_leaves_the_list_but_answers_on(actor: Actor):
    battle = published(actor)
    url = address(battle)
    actions.withdraw(battle=battle)
    GalleryTombstone.objects.update(withdrawn_at=timezone.now() - timedelta(days=31))
    assert Client().get(API).json()["withdrawn"] == []
    assert Client().get(url).status_code == 410


def test_listing_again_removes_the_tombstone(actor: Actor):
    battle = published(actor)
    actions.unlist(battle=battle)
    assert len(Client().get(API).json()["withdrawn"]) == 1
    actions.list_in_gallery(battle=battle)
    assert found() == ["Why?"]
    assert not GalleryTombstone.objects.exists()
    actions.list_in_gallery(battle=battle)
    actions.unlist(battle=battle)
    actions.unlist(battle=battle)
    actions.withdraw(battle=battle)
    assert GalleryTombstone.objects.count() == 1
