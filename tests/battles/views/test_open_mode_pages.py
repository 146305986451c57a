import re

import pytest
from django.test import Client

from battles.models import Answer, Battle, Call, Side, StarRating, Turn
from models_registry import drawable_cache
from models_registry.models import LanguageModel
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
    ("mode", "models", "sides"),
    [
        ("side_by_side", ["cat", "ant"], [("left", "cat"), ("right", "ant")]),
        ("compare", ["bee", "cat", "ant"], [("1", "bee"), ("2", "cat"), ("3", "ant")]),
        ("direct", ["bee"], [("left", "bee")]),
    ],
)
def test_chosen_models_take_sides_in_picker_order(client: Client, mode, models, sides):
    assert f'name="mode" value="{mode}"' in client.get(f"/?mode={mode}").content.decode()
    battle = start(client, mode=mode, models=models)
    assert list(battle.sides.order_by("position").values_list("position", "model__slug")) == sides
    page = page_of(battle, client)
    for slug in models:
        assert f"<bdi>{slug.capitalize()}</bdi>" in page
    answer(battle)
    response = client.post(f"/s/{battle.session.public_id}/battles/", hidden_fields(page_of(battle, client)))
    assert response.status_code == 303
    repeated = Battle.objects.latest("pk")
    assert list(repeated.sides.order_by("position").values_list("position", "model__slug")) == sides


def hidden_fields(page: str) -> dict[str, object]:
    """Return the fields that the composer sends, with a prompt."""
    composer = page[page.index('id="composer"') :]
    return {
        "prompt": "and now?",
        "mode": re.findall(r'name="mode" value="([^"]*)"', composer),
        "models": re.findall(r'name="models" value="([^"]*)"', composer),
    }


def test_pickers_of_two_sides_send_a_field_each(client: Client):
    page = client.get("/?mode=side_by_side&models=cat&models=bee").text
    assert re.findall(r'name="(\w+)" value="(\w+)" checked', page) == [("models", "cat"), ("opponent", "bee")]
    battle = start(client, mode="side_by_side", models=["cat"], opponent="bee")
    sides = [("left", "cat", True), ("right", "bee", True)]
    assert list(battle.sides.order_by("position").values_list("position", "model__slug", "chosen")) == sides
    refused = client.post("/", {"prompt": "", "mode": "side_by_side", "models": ["bee"], "opponent": "ant"}).text
    assert re.findall(r'name="(\w+)" value="(\w+)" checked', refused) == [("models", "bee"), ("opponent", "ant")]


def test_empty_picker_draws_the_partner(client: Client):
    battle = start(client, mode="side_by_side", models=["bee", ""])
    assert set(battle.sides.values_list("position", "chosen")) == {("left", True), ("right", False)}


def test_comparison_preselects_two_then_remembers_models(client: Client):
    def chosen() -> list[str]:
        return re.findall(r'name="models" value="(\w+)" checked', client.get("/?mode=compare").text)

    make.model(slug="dog", name="Dog")
    assert chosen() == ["ant", "bee"]
    start(client, mode="compare", models=["dog", "cat", "bee"])
    start(client, mode="direct", models=["ant"])
    assert chosen() == ["bee", "cat", "dog"]
    LanguageModel.objects.filter(slug="cat").update(status="retired")
    drawable_cache.cached_roster.invalidate()
    assert chosen() == ["bee", "dog"]
    LanguageModel.objects.filter(slug="dog").update(status="retired")
    drawable_cache.cached_roster.invalidate()
    assert chosen() == ["ant", "bee"]
    assert re.findall(r'name="models" value="(\w+)" checked', client.get("/?mode=direct").text) == ["ant"]


def test_page_filters_narrow_the_blind_draw(client: Client):
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
def test_invalid_choice_keeps_the_form_input(client: Client, fields, sentence):
    response = client.post("/", {"prompt": "my long prompt", **fields})
    page = response.content.decode()
    assert response.status_code == 422
    assert sentence in page
    assert "my long prompt</textarea>" in page
    assert f'name="mode" value="{fields["mode"]}"' in page
    assert page.count(" checked") + page.count(" selected") >= (0 if fields["models"] == ["\x00"] else 1)
    assert not Battle.objects.exists()


def test_unknown_mode_in_url_falls_back_to_blind(client: Client):
    assert 'name="mode" value="blind"' in client.get("/?mode=telepathy").content.decode()
    assert client.post("/", {"prompt": "hello", "mode": "telepathy"}).status_code == 422


def test_stars_are_stored_with_and_without_htmx(client: Client):
    battle = start(client, mode="compare", models=["ant", "bee"])
    assert 'class="stars"' not in page_of(battle, client)
    answer(battle)
    assert page_of(battle, client).count('class="stars"') == 2
    first, second = Answer.objects.in_order()
    response = client.post(f"/answers/{first.public_id}/rating/", {"stars": "5"})
    assert response.status_code == 302
    assert re.search(rf'id="stars-{first.public_id}-5"[^>]* checked', page_of(battle, client))
    response = client.post(f"/answers/{second.public_id}/rating/", {"stars": "2"}, headers={"HX-Request": "true"})
    assert response.status_code == 204  # the submitted form already shows the stars
    assert re.search(rf'id="stars-{second.public_id}-2"[^>]* checked', page_of(battle, client))
    assert client.post(f"/answers/{second.public_id}/rating/", {"stars": "6"}).status_code == 404
    assert Client().post(f"/answers/{second.public_id}/rating/", {"stars": "1"}).status_code == 404
    assert list(StarRating.objects.order_by("order").values_list("stars", flat=True)) == [5, 2]


def test_side_by_side_page_names_the_board_of_its_vote(client: Client):
    battle = start(client, mode="side_by_side", models=["ant", "bee"])
    answer(battle)
    assert "It counts on the side-by-side board" in page_of(battle, client)
    client.post(f"/battles/{battle.public_id}/vote/", {"choice": "right"})
    assert "You preferred answer B." in page_of(battle, client)


def test_session_page_query_count_is_independent_of_models(client: Client, django_assert_max_num_queries):
    for name in ("dog", "elk", "fox"):
        make.model(slug=name, name=name)
    battle = start(client, mode="compare", models=["ant", "bee", "cat", "dog", "elk", "fox"])
    answer(battle)
    with django_assert_max_num_queries(12):
        page_of(battle, client)


@pytest.mark.parametrize(("cost", "shown"), [("0.00230000", "$0.0023"), ("0.00000012", "$0.00000012"), ("0", "$0")])
def test_answer_cost_is_shown_without_trailing_zeros(client: Client, cost: str, shown: str):
    battle = start(client, mode="direct", models=["bee"])
    answer(battle)
    stored = Answer.objects.get()
    stored.call = Call.objects.create(
        answer=stored, model=stored.side.model, attempt=1, fence=1, state="done", cost=cost
    )
    stored.save()
    assert f"<span>{shown}</span>" in compact(page_of(battle, client))


def test_arena_with_one_model_offers_to_chat(client: Client):
    LanguageModel.objects.exclude(slug="ant").update(status="paused")
    page = client.get("/").text
    assert 'name="mode" value="direct"' in page
    assert "The arena is waiting" not in page
    blind = client.get("/?mode=blind").text
    assert "there is 1." in compact(blind)
    assert 'href="/?mode=direct"' in blind
    battle = start(client, mode="direct", models=["ant"])
    assert battle.mode == "direct"
    LanguageModel.objects.update(status="paused")
    assert "The arena is waiting" in client.get("/?mode=direct").text
