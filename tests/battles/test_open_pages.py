"""The pages of the open modes by forms alone: pick models, read names, give stars."""

import re

import pytest
from django.test import Client

from battles.models import Answer, Battle, Call, Side, StarRating, Turn
from tests import make
from tests.pages import compact

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    for name in ("ant", "bee", "cat"):
        make.model(slug=name, name=name.capitalize(), license_kind="open", size_b=7)
    return Client()


def start(client: Client, **fields: object) -> Battle:
    response = client.post("/", {"prompt": "hello there", **fields})
    assert response.status_code == 303
    return Battle.objects.latest("pk")


def page_of(battle: Battle, client: Client) -> str:
    return client.get(battle.session.get_absolute_url()).content.decode()


def answer(battle: Battle) -> None:
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="an answer")


@pytest.mark.parametrize(
    ("mode", "models", "seats"),
    [
        ("side_by_side", ["cat", "ant"], [("left", "cat"), ("right", "ant")]),
        ("compare", ["bee", "cat", "ant"], [("1", "bee"), ("2", "cat"), ("3", "ant")]),
        ("direct", ["bee"], [("left", "bee")]),
    ],
)
def test_picked_models_meet_in_the_order_of_their_pickers(client: Client, mode, models, seats):
    assert f'name="mode" value="{mode}"' in client.get(f"/?mode={mode}").content.decode()
    battle = start(client, mode=mode, models=models)
    assert list(battle.sides.order_by("position").values_list("position", "model__slug")) == seats
    page = page_of(battle, client)
    for slug in models:
        assert f"<bdi>{slug.capitalize()}</bdi>" in page
    answer(battle)
    anew = client.post(f"/s/{battle.session.public_id}/battles/", hidden_fields(page_of(battle, client)))
    assert anew.status_code == 303
    again = Battle.objects.latest("pk")
    assert list(again.sides.order_by("position").values_list("position", "model__slug")) == seats


def hidden_fields(page: str) -> dict[str, object]:
    """What the composer sends with the prompt that is typed into it."""
    composer = page[page.index('id="composer"') :]
    return {
        "prompt": "and now?",
        "mode": re.findall(r'name="mode" value="([^"]*)"', composer),
        "models": re.findall(r'name="models" value="([^"]*)"', composer),
    }


def test_the_empty_picker_leaves_the_partner_to_the_draw(client: Client):
    battle = start(client, mode="side_by_side", models=["bee", ""])
    assert set(battle.sides.values_list("position", "chosen")) == {("left", True), ("right", False)}


def test_a_blind_draw_is_narrowed_on_the_page(client: Client):
    make.model(license_kind="proprietary", size_b=7)
    for _ in range(6):
        start(client, license_kind="open", size="medium")
    assert set(Side.objects.values_list("model__license_kind", flat=True)) == {"open"}
    refused = client.post("/", {"prompt": "hello", "size": "large"})
    assert refused.status_code == 422
    assert "Your filters leave fewer than three models" in refused.content.decode()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"mode": "compare", "models": ["ant"]}, "Choose two to six models."),
        ({"mode": "side_by_side", "models": ["ant", "ant"]}, "Choose each model once."),
        ({"mode": "direct", "models": ["\x00"]}, "There is no model"),
    ],
)
def test_a_wrong_choice_keeps_what_was_typed_and_picked(client: Client, fields, sentence):
    response = client.post("/", {"prompt": "my long prompt", **fields})
    page = response.content.decode()
    assert response.status_code == 422
    assert sentence in page
    assert "my long prompt</textarea>" in page
    assert f'name="mode" value="{fields["mode"]}"' in page
    assert page.count(" checked") + page.count(" selected") >= (0 if fields["models"] == ["\x00"] else 1)
    assert not Battle.objects.exists()


def test_an_unknown_mode_is_the_blind_one(client: Client):
    assert 'name="mode" value="blind"' in client.get("/?mode=telepathy").content.decode()
    assert client.post("/", {"prompt": "hello", "mode": "telepathy"}).status_code == 422


def test_stars_are_given_without_a_script_and_with_one(client: Client):
    battle = start(client, mode="compare", models=["ant", "bee"])
    assert 'class="stars"' not in page_of(battle, client)
    answer(battle)
    assert page_of(battle, client).count('class="stars"') == 2
    first, second = Answer.objects.in_order()
    told = client.post(f"/answers/{first.public_id}/rating/", {"stars": "5"})
    assert told.status_code == 302
    assert re.search(rf'id="stars-{first.public_id}-5"[^>]* checked', page_of(battle, client))
    told = client.post(f"/answers/{second.public_id}/rating/", {"stars": "2"}, headers={"HX-Request": "true"})
    assert told.status_code == 204  # the form that was sent shows them
    assert re.search(rf'id="stars-{second.public_id}-2"[^>]* checked', page_of(battle, client))
    assert client.post(f"/answers/{second.public_id}/rating/", {"stars": "6"}).status_code == 404
    assert Client().post(f"/answers/{second.public_id}/rating/", {"stars": "1"}).status_code == 404
    assert list(StarRating.objects.order_by("order").values_list("stars", flat=True)) == [5, 2]


def test_side_by_side_says_where_its_vote_counts(client: Client):
    battle = start(client, mode="side_by_side", models=["ant", "bee"])
    answer(battle)
    assert "It counts on the side-by-side board" in page_of(battle, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "right"})
    assert "You preferred the right answer." in page_of(battle, client)


def test_the_session_page_asks_as_much_for_six_models_as_for_two(client: Client, django_assert_max_num_queries):
    for name in ("dog", "elk", "fox"):
        make.model(slug=name, name=name)
    battle = start(client, mode="compare", models=["ant", "bee", "cat", "dog", "elk", "fox"])
    answer(battle)
    with django_assert_max_num_queries(12):
        page_of(battle, client)


@pytest.mark.parametrize(("cost", "shown"), [("0.00230000", "$0.0023"), ("0.00000012", "$0.00000012"), ("0", "$0")])
def test_what_an_answer_cost_is_said_without_digits_that_say_nothing(client: Client, cost: str, shown: str):
    battle = start(client, mode="direct", models=["bee"])
    answer(battle)
    said = Answer.objects.get()
    said.call = Call.objects.create(answer=said, model=said.side.model, attempt=1, fence=1, state="done", cost=cost)
    said.save()
    assert f"<span>{shown}</span>" in compact(page_of(battle, client))
