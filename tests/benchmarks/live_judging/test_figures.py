import json
from decimal import Decimal

import pytest
from django.test import Client

from battles.models import Battle, Vote
from benchmarks.live_judging import figures as live_figures_module
from benchmarks.live_judging.figures import LiveFigures, live_figures, read_figures
from benchmarks.models import LiveDraw, LiveJudge, LiveJudgement
from models_registry.models import LanguageModel
from tests import make
from tests.benchmarks.live_judging.factory import judge_all, live_judge, voted
from tests.leaderboard.tally_checks import aggregate

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[LanguageModel, LanguageModel]:
    monkeypatch.setattr(live_figures_module, "MIN_BATTLES", 4)
    return make.model(name="Gazelle ada", slug="ada"), make.model(name="Gazelle bob", slug="bob")


def vote_often(pair: tuple[LanguageModel, LanguageModel]) -> list[Battle]:
    """Vote on six battles: in four of them, people and a fair judge name the same winner."""
    choices = [*[("left", 4)] * 3, ("right", 1), ("tie", 4), ("left", 1)]
    return [voted(*pair, choice, left_quality=quality) for choice, quality in choices]


def figures() -> LiveFigures:
    found = read_figures()
    assert found is not None
    return found


def test_random_part_has_scores_and_agreement(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    vote_often(pair)
    judge_all()
    found = figures()
    assert (found.votes, found.drawn, found.judged, found.outside, found.is_random) == (6, 6, 6, 0, True)
    assert found.agreement is not None
    assert (round(found.agreement.value, 3), found.agreement.n) == (0.667, 6)
    assert found.flips is not None
    assert found.flips.value == 0
    ada, bob = found.scores["ada"], found.scores["bob"]
    assert (ada.n, ada.value + bob.value == pytest.approx(0)) == (6, True)
    assert ada.low < ada.value < ada.high
    assert ada.value > 0


def test_own_family_is_counted_apart(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model(organization="Acme"))
    vote_often(pair)
    voted(make.model(organization="Acme"), pair[0])
    judge_all()
    found = figures()
    assert (found.votes, found.judged, found.left_out, found.is_random) == (6, 6, {"own_family": 1}, True)


def test_part_that_is_not_random_has_no_scores(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    battles = vote_often(pair)
    judge_all()
    assert figures().is_random

    LiveJudgement.objects.filter(draw__battle=battles[0], is_swapped=True).update(state="failed", outcome=None)
    found = figures()
    assert (found.judged, found.failed, found.is_random, found.scores) == (5, 1, False, {})

    LiveJudgement.objects.filter(draw__battle=battles[0]).delete()
    LiveDraw.objects.filter(battle=battles[0]).update(left_out="not_released")
    assert not figures().is_random

    Vote.objects.filter(battle=battles[0]).update(excluded_reason="moderation")  # it is on no board any more
    assert figures().is_random
    voted(*pair)  # not drawn yet
    assert (figures().outside, figures().is_random) == (1, False)


def test_battles_weigh_by_the_inverse_of_their_share(pair: tuple[LanguageModel, LanguageModel]):
    live = live_judge(make.model())
    vote_often(pair)
    judge_all()
    even = figures().scores["ada"].value
    lost = LiveDraw.objects.filter(battle__vote__choice="right")
    LiveDraw.objects.filter(pk__in=lost).delete()
    battle = voted(*pair, "right", left_quality=1)
    LiveJudge.objects.filter(pk=live.pk).update(share=Decimal(25))
    draw = LiveDraw.objects.create(live_judge=live, battle=battle, share=Decimal(25))
    LiveJudge.objects.filter(pk=live.pk).update(last_order=Vote.objects.get(battle=battle).order)
    LiveJudgement.objects.bulk_create(
        LiveJudgement(draw=draw, is_swapped=swapped, state="done", outcome=0.0) for swapped in (False, True)
    )
    assert figures().scores["ada"].value < even


def test_board_shows_the_judge_apart_from_the_score(
    client: Client, settings, pair: tuple[LanguageModel, LanguageModel], monkeypatch: pytest.MonkeyPatch
):
    vote_often(pair)
    judge = make.model()
    aggregate()
    live_figures.invalidate()
    before = client.get("/leaderboard/?format=json").content
    assert "Judged by a model" not in client.get("/leaderboard/").content.decode()
    assert client.get("/api/v1/leaderboard/judged/").json()["count"] == 0

    live_judge(judge)
    judge_all()
    live_figures.invalidate()
    page = client.get("/leaderboard/").content.decode()
    assert "A random part: 6 of 6 voted battles" in page
    assert "Not yet compared" not in page
    assert "How often two people agree is not known here." in page
    [judged] = client.get("/api/v1/leaderboard/judged/").json()["results"]
    assert (judged["judged"], judged["is_random"], judged["people"]) == (6, True, None)
    settings.ARENA_PUBLISH_VOTES = True
    # Files are read in the test's transaction, not in a thread of the database.
    monkeypatch.setattr("benchmarks.exports.responses.stream_chunks", iter)
    exported = client.get("/api/v1/exports/judged.jsonl").getvalue().splitlines()
    assert json.loads(exported[3]) == {
        "judge": "Judge", "judge_number": 1, "share": 100.0, "left": "ada", "right": "bob", "choice": "right",
        "left_shown_first": 0.0, "right_shown_first": 0.0,
    }  # fmt: skip
    assert "Judged by a model" not in client.get("/leaderboard/?search=ada").content.decode()
    assert client.get("/leaderboard/?format=json").content == before


def test_without_a_judge_that_is_on_there_are_no_figures():
    live_judge(make.model(), is_on=False)
    assert read_figures() is None
