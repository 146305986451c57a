import re

import pytest
from django.test import Client

from battles import actions
from battles.models import Answer, Battle, Vote
from battles.queries import get_battle
from battles.views.battles import page_battle
from leaderboard.boards.reveal import UNKNOWN_PLACE, battle_places, numbers_of
from leaderboard.rating import elo
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast, cast_many, contestants
from tests.pages import compact


@pytest.mark.parametrize("left_share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("left", "right"), [(1500.0, 1500.0), (2100.0, 900.0), (700.0, 2600.0)])
def test_elo_before_vote_inverts_after_vote(left: float, right: float, left_share: float):
    before = elo.before_vote(*elo.after_vote(left, right, left_share=left_share), left_share=left_share)
    assert before == pytest.approx((left, right), abs=1e-9)


def voted(*models, choice: str = "left") -> Battle:
    battle = make.answered_battle(*models)
    return actions.cast_vote(actor=make.visitor(), battle=battle, choice=Vote.Choice(choice)).battle


def shown(battle: Battle) -> dict:
    return page_battle(get_battle(battle.pk))


@pytest.mark.django_db
def test_elo_change_is_known_until_a_later_vote():
    gold, silver, bronze = contestants("gold", "silver", "bronze")
    cast(gold, silver, "left")
    battle = shown(voted(gold, silver, choice="right"))
    change = elo.K * (0 - elo.expected_share(1516, 1484))
    places = battle_places([battle])
    assert [places[battle["id"], side]["elo_change"] for side in ("left", "right")] == pytest.approx([change, -change])
    assert [places[battle["id"], side]["elo"] for side in ("left", "right")] == pytest.approx(
        [1516 + change, 1484 - change]
    )
    cast(bronze, silver, "tie")
    assert battle_places([battle])[battle["id"], "left"]["elo_change"] is None


@pytest.mark.django_db
def test_api_returns_places_after_own_vote(client: Client):
    actor = make.member()
    client.force_login(actor.user)
    battle = make.answered_battle(*contestants("gold", "silver"), actor=actor)
    url = f"/api/v1/leaderboard/battles/{battle.public_id}/"
    refused = client.get(url)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_voted_yet")
    assert not {"gold", "silver"} & set(re.findall(r"\w+", refused.text))
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    sides = client.get(url).json()["sides"]
    assert [(side["model"]["id"], side["elo"], side["elo_change"], side["rank"]) for side in sides] == [
        ("gold", 1516.0, 16.0, None), ("silver", 1484.0, -16.0, None),
    ]  # fmt: skip
    assert make.browser(make.member()).get(url).status_code == 404


@pytest.mark.django_db
def test_elo_change_is_shown_with_sign(client: Client):
    actor = make.member()
    client.force_login(actor.user)
    battle = make.answered_battle(*contestants("gold", "silver"), actor=actor)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    page = client.get(battle.session.get_absolute_url()).text
    assert re.findall(r'"moved (\w+)">([^<]+)<', compact(page)) == [("up", "+16.0"), ("down", "−16.0")]


@pytest.mark.django_db
def test_excluded_vote_has_no_elo_change():
    gold, silver = contestants("gold", "silver")
    cast(gold, silver, "left")
    battle = make.answered_battle(gold, silver)
    Answer.objects.filter(turn__battle=battle, side__position="left").update(state=Answer.State.STOPPED)
    actions.cast_vote(actor=make.visitor(), battle=battle, choice=Vote.Choice.LEFT)
    place = battle_places([shown(battle)])[battle.public_id, "left"]
    assert (place["elo"], place["elo_change"]) == (1516, None)


@pytest.mark.django_db
def test_battle_places_takes_three_queries(django_assert_num_queries):
    gold, silver, guest = contestants("gold", "silver", "guest")
    cast_many(gold, silver, left=30, right=10)
    aggregate()
    battles = [shown(voted(gold, silver)), shown(voted(guest, gold)), shown(make.answered_battle(gold, silver))]
    with django_assert_num_queries(3):
        places = battle_places(battles)
    assert len(places) == 4
    assert places[battles[0]["id"], "left"]["rank"] == 1
    newcomer = numbers_of(places[battles[1]["id"], "left"])
    assert newcomer | {"elo": None, "elo_change": None} == UNKNOWN_PLACE  # not on the board yet
    with django_assert_num_queries(0):
        assert battle_places(battles[2:]) == {}


@pytest.mark.django_db
def test_page_of_many_voted_battles_has_bounded_query_count(client: Client, django_assert_max_num_queries):
    gold, silver = contestants("gold", "silver")
    actor = make.member()
    client.force_login(actor.user)
    battles = [make.answered_battle(gold, silver, actor=actor) for _ in range(6)]
    for battle in battles:
        actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.TIE)
    Battle.objects.update(session=battles[0].session)
    with django_assert_max_num_queries(16):
        page = client.get(battles[0].session.get_absolute_url()).content.decode()
    assert page.count("You called it a tie.") == 6
