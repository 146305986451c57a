from collections import Counter

import pytest
from django.test import Client

from battles.actions import start_session
from battles.models import Battle, Side, Turn
from battles.prompting.lineup import BattleRequest, Filters, MatchupPlan
from common.errors import InvalidInput
from models_registry.drawable_cache import Roster
from models_registry.models import LanguageModel
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)

Mode = Battle.Mode
CHOOSE_TWO = "Choose two models, or one and let another be chosen at random."
TOO_NARROW = "Your filters leave fewer than three models. Remove a filter."
ONLY_BLIND = "Filters apply to blind battles only."
OPEN = {"license_kind": "open"}


def models_by_side(battle: dict) -> dict[str, str]:
    return {side["side"]: side["model"]["id"] for side in battle["sides"]}


def refused(client: Client, **body: object) -> dict[str, list[str]]:
    response = client.post("/api/v1/sessions/", {"prompt": "hello", **body}, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "invalid"), response.content
    assert not Battle.objects.exists()
    return response.json()["fields"]


@pytest.mark.parametrize(
    ("body", "field", "sentence"),
    [
        ({"models": ["m0"]}, "models", "Models of a blind battle are chosen at random. Do not name any."),
        ({"mode": "side_by_side"}, "models", CHOOSE_TWO),
        ({"mode": "side_by_side", "models": ["m0", "m1", "m2"]}, "models", CHOOSE_TWO),
        ({"mode": "compare", "models": ["m0"]}, "models", "Choose two to six models."),
        ({"mode": "direct", "models": ["m0", "m1"]}, "models", "Choose one model."),
        ({"mode": "compare", "models": ["m0", "m1", "m0"]}, "models", "Choose each model once."),
        ({"mode": "direct", "models": ["unknown"]}, "models", "There is no model “unknown”."),
        ({"mode": "direct", "models": ["draft"]}, "models", "There is no model “draft”."),
        ({"mode": "direct", "models": ["resting"]}, "models", "Resting is paused."),
        ({"mode": "direct", "models": ["keyless"]}, "models", "Keyless is unavailable at the moment."),
        ({"mode": "direct", "models": "m0"}, "models", "Expected a list of items but got type \"str\"."),
        ({"mode": "direct", "models": ["m0"], "filters": OPEN}, "filters", ONLY_BLIND),
        ({"filters": {"license_kind": "free"}}, "filters", "Choose one of: open, proprietary."),
        ({"filters": {"smells": "good"}}, "filters", "There is no filter “smells”."),
        ({"filters": {"max_size_b": "NaN"}}, "filters", "A valid number is required."),
        ({"filters": OPEN}, "filters", TOO_NARROW),
        ({"mode": "duel"}, "mode", "Choose one of: blind, side_by_side, compare, direct, auto."),
    ],
)  # fmt: skip
def test_invalid_choice_returns_error_of_its_field(client: Client, five_models, body, field, sentence):
    make.model(slug="draft", status="draft")
    make.model(slug="resting", name="Resting", status="paused")
    keyless = make.provider("http://127.0.0.1:10/v1", needs_key=True)
    LanguageModel.objects.create(provider=keyless, slug="keyless", name="Keyless", status="active")
    assert refused(client, **body) == {field: [sentence]}


def test_invalid_choice_does_not_count_against_limits(client: Client, five_models, settings):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("battle", "visitor"): "1/hour"}
    refused(client, mode="compare", models=["m0"])
    body = {"prompt": "hello", "mode": "direct", "models": ["m0"]}
    assert client.post("/api/v1/sessions/", body, content_type="application/json").status_code == 201


def test_unstorable_slug_is_refused_without_query(five_models):
    with pytest.raises(InvalidInput, match="There is no model"):
        MatchupPlan.from_request(BattleRequest(Mode.DIRECT, ("a\x00b\ud800",)), Roster([], [], []))


def test_filtered_draw_returns_matching_models_only():
    matching = [make.model(license_kind="open", size_b=size) for size in (3, 7, 8)]
    make.model(license_kind="open", size_b=70), make.model(license_kind="open"), make.model(size_b=7)
    battle_request = BattleRequest(filters=Filters(license_kind="open", min_size_b=3, max_size_b=8))
    battles = [start_session(actor=make.visitor(), prompt="hello", battle_request=battle_request) for _ in range(20)]
    assert {side.model_id for side in Side.objects.all()} == {model.pk for model in matching}
    assert battles[0].propensity == pytest.approx(1 / 3)
    assert Filters(**battles[0].filters) == battle_request.filters


@pytest.mark.slow
def test_redraw_respects_filters(fake_provider, worker):
    at = {"at": fake_provider.base_url, "license_kind": "open"}
    make.model("status-500", **at), make.model("status-500", **at), make.model("honest", **at)
    make.model("honest", at=fake_provider.base_url)
    for _ in range(4):
        start_session(
            actor=make.member(), prompt="hello", battle_request=BattleRequest(filters=Filters(license_kind="open"))
        )
    for turn in Turn.objects.all():
        worker.answer(turn.pk)
    assert {side.model.license_kind for side in Side.objects.select_related("model")} == {"open"}


def test_single_chosen_model_is_left_and_partner_is_drawn(client: Client, five_models):
    drawn = Counter()
    for _ in range(8):
        body = {"prompt": "hello", "mode": "side_by_side", "models": ["m2"]}
        battle = client.post("/api/v1/sessions/", body, content_type="application/json").json()["battles"][0]
        assert models_by_side(battle)["left"] == "m2"
        drawn[models_by_side(battle)["right"]] += 1
    assert "m2" not in drawn
    assert set(Side.objects.values_list("position", "chosen")) == {("left", True), ("right", False)}
    assert Battle.objects.first().propensity == pytest.approx(0.1)
