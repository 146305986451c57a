from decimal import Decimal

import pytest
from django.test import Client

from battles.actions import follow_up, start_session
from battles.errors import ModelsOverBudget
from battles.models import Answer, Battle, Call, StarRating, Turn, Vote
from battles.prompting.lineup import BattleRequest
from leaderboard.models import EloRating
from models_registry.models import LanguageModel, Price
from tests import make
from tests.fake_provider import PAUSE, FakeProvider
from tests.site import Reader, panes

pytestmark = pytest.mark.django_db(transaction=True)

Mode = Battle.Mode
# Query counts with an empty cache of categories, which saves a query.
START, VOTE = 5, 11


def start(reader: Reader, **body: object) -> dict:
    response = reader.api("POST", "sessions/", {"prompt": "one two three", **body})
    assert response.status_code == 201, response.text
    return response.json()["battles"][0]


def models_by_side(battle: dict) -> dict[str, str]:
    return {side["side"]: side["model"]["id"] for side in battle["sides"]}


def test_side_by_side_shows_names_and_takes_a_vote(reader: Reader, five_models):
    battle = start(reader, mode="side_by_side", models=["m3", "m1"])
    assert (battle["state"], models_by_side(battle)) == ("answering", {"left": "m3", "right": "m1"})
    battle = reader.wait_until_answered(battle)
    assert (battle["state"], battle["can_vote"]) == ("awaiting_vote", True)
    assert battle["turns"][0]["answers"][0]["completion_tokens"] == 3
    assert "stars" not in battle["turns"][0]["answers"][0]
    voted = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"}).json()
    assert (voted["state"], voted["vote"]["counted"]) == ("voted", True)
    assert Vote.objects.get().mode == "side_by_side"


def test_self_identification_in_open_mode_is_no_leak(reader: Reader, five_models):
    battle = start(reader, mode="side_by_side", models=["m0", "m1"], prompt="I am Name 0 and honest-0")
    battle = reader.wait_until_answered(battle)
    assert Answer.objects.filter(leaks_identity=True).exists()
    assert reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"}).json()["vote"]["counted"]


def test_comparison_takes_stars_for_each_answer(reader: Reader, five_models):
    battle = start(reader, mode="compare", models=["m4", "m0", "m2"])
    assert models_by_side(battle) == {"1": "m4", "2": "m0", "3": "m2"}
    texts = panes(list(reader.follow(battle["stream_url"])))
    assert texts == dict.fromkeys("123", "one two three ")
    battle = reader.battle(battle["id"])
    assert (battle["state"], battle["can_vote"], battle["can_follow_up"]) == ("open", False, True)
    answers = battle["turns"][0]["answers"]
    assert [(answer["side"], answer["stars"]) for answer in answers] == [("1", None), ("2", None), ("3", None)]
    path = f"answers/{answers[1]['id']}/rating/"
    reader.api("POST", path, {"stars": 2})
    rated = reader.api("POST", path, {"stars": 5})
    assert rated.status_code == 200
    assert [answer["stars"] for answer in rated.json()["turns"][0]["answers"]] == [None, 5, None]
    assert list(StarRating.objects.order_by("order").values_list("order", "stars")) == [(1, 2), (2, 5)]
    assert LanguageModel.objects.get(slug="m0").has_votes
    vote = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    assert (vote.status_code, vote.json()["code"]) == (409, "takes_no_vote")


def test_stars_are_validated_and_limited_to_own_answers(reader: Reader, five_models, site: str):
    battle = reader.wait_until_answered(start(reader, mode="compare", models=["m0", "m1"]))
    path = f"answers/{battle['turns'][0]['answers'][0]['id']}/rating/"
    for stars in (0, 6, "many", None, 2.5):
        assert reader.api("POST", path, {"stars": stars}).status_code == 400
    assert Reader(site).api("POST", path, {"stars": 5}).status_code == 404
    assert reader.api("POST", "answers/nothing/rating/", {"stars": 5}).status_code == 404
    twice = [reader.api("POST", path, {"stars": 3}, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert twice[0].json() == twice[1].json()
    assert StarRating.objects.count() == 1


def test_only_complete_answers_of_comparisons_take_stars(reader: Reader, five_models, fake_provider: FakeProvider):
    make.model("cut-after-1", at=fake_provider.base_url, slug="broken")
    chat = reader.wait_until_answered(start(reader, mode="direct", models=["m0"]))
    compared = reader.wait_until_answered(start(reader, mode="compare", models=["m0", "broken"]))
    failed = compared["turns"][0]["answers"][1]
    assert (failed["state"], failed["error"]) == ("failed", "cut")
    for answer in (chat["turns"][0]["answers"][0], failed):
        response = reader.api("POST", f"answers/{answer['id']}/rating/", {"stars": 4})
        assert (response.status_code, response.json()["code"]) == (409, "takes_no_stars")


@pytest.mark.slow
def test_failed_chosen_model_leaves_other_sides_going(reader: Reader, five_models, fake_provider):
    make.model("status-500", at=fake_provider.base_url, slug="broken", name="Broken")
    battle = reader.wait_until_answered(start(reader, mode="compare", models=["m0", "broken", "m1"]))
    assert models_by_side(battle) == {"1": "m0", "2": "broken", "3": "m1"}
    assert [answer["state"] for answer in battle["turns"][0]["answers"]] == ["done", "failed", "done"]
    assert battle["turns"][0]["answers"][1]["error"] == "provider_error"
    assert (battle["state"], battle["can_follow_up"]) == ("open", True)
    fake_provider.forget()
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "and four"})
    reader.wait_until_answered(reader.battle(battle["id"]))
    sent = {body["model"]: [message["content"] for message in body["messages"]] for body in fake_provider.requests}
    assert sent["honest-0"] == ["one two three", "one two three ", "and four"]
    assert sent["status-500"] == ["and four"]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "chosen"), [("side_by_side", ["broken", "m0"]), ("direct", ["broken"])])
def test_battle_without_enough_answers_is_void(reader: Reader, five_models, fake_provider, mode, chosen):
    make.model("status-500", at=fake_provider.base_url, slug="broken")
    battle = reader.wait_until_answered(start(reader, mode=mode, models=chosen))
    assert [battle["state"], battle["can_vote"], battle["can_follow_up"]] == ["void", False, False]
    assert models_by_side(battle)["left"] == "broken"


def test_failing_drawn_partner_is_redrawn(worker, fake_provider: FakeProvider):
    make.model("honest", at=fake_provider.base_url, slug="mine")
    broken = make.model("status-500", at=fake_provider.base_url, weight=1000)
    other = make.model("honest-2", at=fake_provider.base_url, weight=0.001)
    battle = start_session(
        actor=make.member(), prompt="hello", battle_request=BattleRequest(Mode.SIDE_BY_SIDE, ("mine",))
    )
    assert battle.sides.get(position="right").model == broken
    worker.answer(battle.turns.get().pk)
    assert battle.sides.get(position="right").model == other
    assert not Battle.objects.get().is_void


def test_direct_chat_streams_and_sends_history(reader: Reader, five_models, fake_provider: FakeProvider):
    battle = start(reader, mode="direct", models=["m1"])
    assert models_by_side(battle) == {"left": "m1"}
    assert panes(list(reader.follow(battle["stream_url"]))) == {"left": "one two three "}
    fake_provider.forget()
    assert reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "more"}).status_code == 201
    battle = reader.wait_until_answered(reader.battle(battle["id"]))
    assert battle["state"] == "open"
    assert [message["content"] for message in fake_provider.requests[0]["messages"]] == [
        "one two three", "one two three ", "more",
    ]  # fmt: skip


def test_stop_ends_every_side_of_a_comparison(reader: Reader, fake_provider: FakeProvider):
    for n in range(3):
        make.model("honest", at=fake_provider.base_url, slug=f"m{n}")
    battle = start(reader, mode="compare", models=["m0", "m1", "m2"], prompt=f"one {PAUSE} two")
    events = reader.follow(battle["stream_url"])
    next(event for event in events if event[1] == "text")
    reader.api("POST", f"battles/{battle['id']}/stop/")
    assert [name for _, name, _ in events][-1] == "end"
    battle = reader.battle(battle["id"])
    assert {answer["state"] for answer in battle["turns"][0]["answers"]} == {"stopped"}
    assert battle["state"] == "open"


# ---- Money ----


def test_comparison_reserves_money_for_every_model(settings):
    for n in range(3):
        model = make.model(slug=f"paid{n}")
        Price.objects.create(model=model, input_per_million=1, output_per_million=1)
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "member": None, "visitor": None, "site": None}
    battle_request = BattleRequest(Mode.COMPARE, ("paid0", "paid1", "paid2"))
    battle = start_session(actor=make.member(), prompt="hello", battle_request=battle_request)
    assert Answer.objects.filter(turn__battle=battle, charge__isnull=False).count() == 3
    max_cost = Answer.objects.first().charge.most
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": max_cost * 3 + max_cost * Decimal("2.5")}
    with pytest.raises(ModelsOverBudget):
        start_session(actor=make.member(), prompt="hello", battle_request=battle_request)
    assert Battle.objects.count() == 1


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_blind_battle_has_a_fixed_query_count(client: Client, five_models, django_assert_num_queries):
    client.post("/api/v1/sessions/", {"prompt": "first"}, content_type="application/json")
    with django_assert_num_queries(START):
        client.post("/api/v1/sessions/", {"prompt": "hello"}, content_type="application/json")


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_vote_query_count_is_equal_in_both_voted_modes(client: Client, five_models, django_assert_max_num_queries):
    LanguageModel.objects.update(has_votes=True)
    EloRating.objects.bulk_create(
        [EloRating(model=model) for model in five_models]
    )  # so that no vote is a model's first
    for body in ({}, {"mode": "side_by_side", "models": ["m0", "m1"]}):
        client.post("/api/v1/sessions/", {"prompt": "hello", **body}, content_type="application/json")
        battle = Battle.objects.latest("pk")
        battle.turns.update(state=Turn.State.DONE)
        Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="hi")
        path = f"/api/v1/battles/{battle.public_id}/vote/"
        with django_assert_max_num_queries(VOTE):
            assert client.post(path, {"choice": "left"}, content_type="application/json").status_code == 201


@pytest.mark.usefixtures("nothing_is_forgotten")
def test_comparison_query_count_is_independent_of_models(client: Client, django_assert_num_queries):
    slugs = [make.model().slug for _ in range(6)]
    client.post("/api/v1/sessions/", {"prompt": "first"}, content_type="application/json")
    for number in (2, 6):
        body = {"prompt": "hello", "mode": "compare", "models": slugs[:number]}
        with django_assert_num_queries(START):
            assert client.post("/api/v1/sessions/", body, content_type="application/json").status_code == 201


def test_follow_up_reaches_every_side_of_a_comparison(five_models):
    actor = make.member()
    battle = start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(Mode.COMPARE, ("m0", "m1", "m2", "m3"))
    )
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.update(state=Answer.State.DONE, text="hi")
    turn = follow_up(actor=actor, battle=battle, prompt="and then?")
    assert turn.answers.count() == 4
    assert Call.objects.count() == 0
