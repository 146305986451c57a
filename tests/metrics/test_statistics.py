"""Public statistics: no teams, no models, nothing about fewer than five persons."""

import csv
import io
from datetime import date, timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from battles.models import Battle, Vote
from metrics.models import MetricDay
from metrics.rollup.families import ALL, Reveal
from metrics.rollup.writing import roll_up
from metrics.series import today
from reviews.second_opinions.queries import SiteAgreement
from tests import make

pytestmark = pytest.mark.django_db
API = "/api/v1/statistics/"
MONDAY = date(2026, 3, 2)
OF_MARCH = "?from=2026-03-02&to=2026-03-08"


def store(day: date, battles: int, people: int, dim: str = "", key: str = "") -> None:
    """Store battles of a day, and as many persons of its day, its week and its month."""
    at = {"day": day, "week": day - timedelta(days=day.weekday()), "month": day.replace(day=1)}
    for span, start in at.items():
        for metric, n in (("site_battles", battles), ("site_people", people)):
            row = {"metric": metric, "day": start, "span": span, "dim": dim, "key": key}
            MetricDay.objects.get_or_create(**row, defaults={"n": n, "total": n})


def read(query: str = OF_MARCH) -> dict[str, dict[str, list[object]]]:
    """Return values by figure and key; "few" where they are hidden for that, None where withheld."""
    response = Client().get(f"{API}{query}")
    assert response.status_code == 200, response.content
    return {
        figure["figure"]: {
            line["key"] or "": ["few" if point.get("few") else point["value"] for point in line["points"]]
            for line in figure["series"]
        }
        for figure in response.json()["figures"]
    }


def test_cells_of_few_people_are_hidden():
    store(MONDAY, 9, 5)
    store(MONDAY + timedelta(days=1), 7, 4)
    found = read()
    assert found["battles"][""] == [9, "few", 0, 0, 0, 0, 0]
    assert found["people"][""] == [5, "few", 0, 0, 0, 0, 0]
    page = Client().get(f"/statistics/{OF_MARCH}").text
    assert "&lt; 5" in page
    assert ">7<" not in page


def test_sessions_without_persons_are_few_people():
    MetricDay.objects.create(metric="site_battles", day=MONDAY, n=12, total=12)
    assert read()["battles"][""][0] == "few"


def test_only_hidden_language_does_not_follow_from_the_others():
    for key, battles, people in (("", 100, 30), ("en", 60, 20), ("fr", 37, 12), ("de", 3, 2)):
        store(MONDAY, battles, people, "language" if key else "", key)
    assert read()["languages"] == {"en": [60]}
    store(MONDAY, 2, 1, "language", "it")
    assert read()["languages"] == {"en": [60], "fr": [37]}


def test_hidden_language_does_not_follow_from_two_periods():
    later = MONDAY + timedelta(days=7)
    for number in range(8):
        store(MONDAY, 900 - number, 20, "language", f"x{number}")
        store(later, 900 - number, 20, "language", f"y{number}")
    for day in (MONDAY, later):
        store(day, 9_000, 90)
        store(day, 3, 2, "language", "de")
    week = "&bucket=week&from={}&to={}"
    one = read("?" + week.format(MONDAY, MONDAY))["languages"]
    both = read("?" + week.format(MONDAY, later))["languages"]
    seen = {key for found in (one, both) for key, values in found.items() if isinstance(values[0], int)}
    assert "x7" not in seen, "the least of the others is withheld in any period"
    assert "de" not in seen


def test_languages_and_categories_have_weeks_only():
    store(MONDAY, 60, 20, "language", "en")
    store(MONDAY, 50, 20, "category", "coding")
    [languages, categories] = Client().get(f"{API}{OF_MARCH}").json()["figures"][3:]
    assert languages["bucket"] == categories["bucket"] == "week"
    assert (languages["series"][0]["name"], categories["series"][0]["name"]) == ("English", "Coding")
    assert read("?from=2026-03-02&to=2026-03-03&bucket=month")["languages"] == {"en": [60]}, "nor months"


def test_week_under_way_has_no_languages_and_categories():
    """Two nights' numbers would tell what one person asked between them."""
    last_week = today() - timedelta(days=today().weekday() + 7)
    for day in (last_week, today()):
        store(day, 60, 20)
        store(day, 12, 6, "language", "fr")
        store(day, 12, 6, "category", "coding")
    found = read(f"?from={last_week}&bucket=week")
    assert found["battles"][""] == [60, 60]
    assert found["languages"]["fr"] == found["categories"]["coding"] == [12, None]


def test_people_are_counted_in_spans_that_sessions_stay(settings):
    store(MONDAY, 60, 20)
    month = "?from=2026-03-02&to=2026-03-31&bucket=month"
    buckets = []
    for days in (0, 31, 30, 6):
        settings.ARENA_KEEP_DAYS = days
        battles, people = Client().get(API + month).json()["figures"][:2]
        assert battles["bucket"] == "month"
        buckets.append(people["bucket"])
    assert buckets == ["month", "month", "week", "day"]


def test_team_and_review_are_counted_nowhere():
    left, right = make.model(), make.model()
    owner = make.member()
    team = make.team(owner.user)
    battles = [make.answered_battle(left, right) for _ in range(5)]
    make.answered_battle(left, right, actor=owner, place=team)
    make.stored_battle(left, right)
    Vote.objects.create(
        battle=battles[0], choice="left", model_left=left, model_right=right, turn_count=1, voter="visitor:1"
    )
    Battle.objects.update(language="en", categories=["coding"])
    for family in ALL:
        roll_up(family, today(), Reveal.now())
    found = read("")
    assert found["battles"][""][-1] == found["people"][""][-1] == 5
    assert found["votes"][""][-1] == "few"
    coding = MetricDay.objects.get(metric="site_battles", span="week", dim="category", key="coding")
    assert coding.n == 5
    rows = MetricDay.objects.filter(metric__startswith="site_")
    assert not rows.exclude(team=None).exists()
    assert set(rows.values_list("dim", flat=True)) == {"", "language", "category"}


def test_last_bucket_is_marked_as_unfinished():
    store(today(), 9, 5)
    [*before, last] = Client().get(API).json()["figures"][0]["series"][0]["points"]
    assert last == {"at": today().isoformat(), "value": 9, "unfinished": True}
    assert not any("unfinished" in point for point in before)


def test_week_that_is_not_counted_yet_has_no_value():
    assert read("?bucket=week")["battles"][""] == [0] * (len(read("?bucket=week")["battles"][""]) - 1) + [None]


def test_file_has_the_values_of_the_api():
    store(MONDAY, 9, 5)
    store(MONDAY + timedelta(days=1), 7, 4)
    for address in (API, "/statistics/"):
        rows = list(csv.DictReader(io.StringIO(Client().get(f"{address}{OF_MARCH}&figure=battles&as=csv").text)))
        assert [row["value"] for row in rows] == ["9", "", "0", "0", "0", "0", "0"]
        assert [row["few"] for row in rows][:2] == ["False", "True"]


def test_agreement_of_few_people_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    for people, is_shown in ((4, False), (5, True)):
        site = SiteAgreement(0.75, 0.6, 0.9, 30, 30, people)
        monkeypatch.setattr("metrics.statistics.figures.site_agreement", lambda site=site: site)
        assert (Client().get(API).json()["agreement"] is not None) == is_shown
        assert ("Agreement of people" in Client().get("/statistics/").text) == is_shown


@pytest.mark.parametrize(
    "query", ["?bucket=hour", "?from=2026-03-02&to=2026-03-01", "?from=0001-01-01", "?from=x", "?figure=models&as=csv"]
)
def test_invalid_period_is_refused(query: str):
    assert Client().get(f"{API}{query}").status_code == Client().get(f"/statistics/{query}").status_code == 400


def test_queries_do_not_grow_with_rows():
    cache.clear()
    Client().get(API)
    with CaptureQueriesContext(connection) as few:
        Client().get(API)
    for number in range(40):
        store(MONDAY + timedelta(days=number), 9, 6, "language", f"x{number % 9}")
    with CaptureQueriesContext(connection) as many:
        assert Client().get(f"{API}{OF_MARCH}").status_code == 200
    assert len(many) == len(few)


def test_statistics_are_absent_unless_published(settings):
    settings.ARENA_PUBLIC_STATISTICS = False
    assert Client().get("/statistics/").status_code == Client().get(API).status_code == 404
    assert "/statistics/" not in Client().get("/").text
