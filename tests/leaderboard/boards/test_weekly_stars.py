import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from battles import actions
from battles.models import StarRating
from leaderboard.boards.weekly_stars import WINDOW, read_weekly_stars
from leaderboard.rating.mean_stars import mean_stars
from tests import make
from tests.leaderboard.boards.test_star_board import SLUGS, compared, give, publish
from tests.leaderboard.vote_factory import contestants

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def models():
    return contestants(*SLUGS)


def monday(weeks_ago: int) -> date:
    today = timezone.now().date()
    return today - timedelta(days=today.weekday(), weeks=weeks_ago)


def give_in(weeks_ago: int, *stars: int | None, actor: Actor | None = None) -> None:
    """Give stars in the first moment of a week."""
    actor, answers = compared(actor)
    moment = datetime.combine(monday(weeks_ago), datetime.min.time(), UTC)
    for answer, number in zip(answers, stars, strict=True):
        if number is not None:
            StarRating.objects.create(answer=answer, stars=number, voter=actor.key, created_at=moment)


def test_weeks_have_means_clustered_by_voter(django_assert_num_queries):
    generous, strict = make.member(), make.member()
    give_in(2, 5, 1, None, actor=generous)
    give_in(2, 4, 2, None, actor=generous)
    give_in(2, 1, 1, None, actor=strict)
    give_in(1, 3, None, None, actor=strict)
    actor, answers = give(None, 4, None)
    actions.give_stars(actor=actor, answer=answers[1], stars=2)
    give_in(WINDOW.days // 7 + 1, None, None, 5)
    with django_assert_num_queries(1):
        bee, ant = read_weekly_stars(["bee", "ant", "cat"])
    expected = mean_stars([[5, 4], [1]])._asdict()
    assert ant == {
        "id": "ant", "name": "Ant", "points": [
            {"week": monday(2), **expected},
            {"week": monday(1), "mean": 3, "low": None, "high": None, "answers": 1},
        ],
    }  # fmt: skip
    assert [(point["week"], float(point["mean"])) for point in bee["points"]] == [(monday(2), 4 / 3), (monday(0), 2)]


@pytest.mark.slow
def test_stars_chart_is_on_compare_board_and_model_page(client: Client):
    for number in range(6):
        give(5, 3, 1 + number % 2)
    publish("now")
    assert 'charts/?board=compare#stars-over-time"' in client.get("/leaderboard/?board=compare").text
    for address, series in [("charts/?board=compare", ["ant", "bee", "cat"]), ("models/bee/", ["bee"])]:
        page = client.get(f"/leaderboard/{address}").text
        match = re.search(r'<script id="data-stars" type="application/json">(.*?)</script>', page)
        assert match
        assert [line["id"] for line in json.loads(match[1])] == series
        assert 'data-chart="stars"' in page
        assert "Week from" in page
    assert "data-stars" not in client.get("/leaderboard/charts/").text
