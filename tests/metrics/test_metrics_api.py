import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from accounts.models import Role, Scope, Team, User
from metrics.models import MetricDay
from metrics.series import today
from tests import make

pytestmark = pytest.mark.django_db
URL = "/api/v1/metrics/"
DAY = timedelta(days=1)


@pytest.fixture
def operator() -> Client:
    return make.api(User.objects.create_superuser("boss@example.org", "a-good-password"))


def in_team(person: User, team: Team) -> Client:
    return Client(headers={"Authorization": f"Bearer {make.token(person, team=team)}"})


def figure(metric: str, day_ago: int, n: int, total: float, **fields: object) -> MetricDay:
    return MetricDay.objects.create(metric=metric, day=today() - day_ago * DAY, n=n, total=total, **fields)


def values(response) -> list[float | None]:
    assert response.status_code == 200, response.content
    return [point["value"] for point in response.json()["series"][0]["points"]]


def test_shares_have_intervals_and_add_up(operator: Client):
    figure("votes_per_battle", 1, 10, 5)
    figure("votes_per_battle", 0, 30, 10)
    days = f"from={today() - DAY}&to={today()}"
    body = operator.get(f"{URL}?metric=votes_per_battle&{days}").json()
    before, now = body["series"][0]["points"]
    assert before == {
        "at": str(today() - DAY), "value": 0.5, "n": 10, "low": pytest.approx(0.2366, abs=1e-4),
        "high": pytest.approx(0.7634, abs=1e-4),
    }  # fmt: skip
    assert now["unfinished"] is True
    monthly = operator.get(f"{URL}?metric=votes_per_battle&{days}&bucket=month").json()["series"][0]["points"]
    assert sum(point["n"] for point in monthly) == 40


def test_sum_of_a_month_under_way_is_projected(operator: Client, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 11, 12, tzinfo=UTC))
    for days_ago, battles in ((0, 500), (1, 10), (10, 30), (11, 9)):  # the last one is in October
        figure("battles", days_ago, battles, battles)
    figure("votes_per_battle", 1, 10, 5)
    october, november = operator.get(f"{URL}?metric=battles&bucket=month").json()["series"][0]["points"]
    assert "projected" not in october
    assert (november["value"], november["projected"]) == (540, 40 / 10 * 30)
    [share] = operator.get(f"{URL}?metric=votes_per_battle&bucket=month&from=2026-11-01").json()["series"][0]["points"]
    assert "projected" not in share, "only sums are"
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 1, 12, tzinfo=UTC))
    [first] = operator.get(f"{URL}?metric=battles&bucket=month&from=2026-11-01").json()["series"][0]["points"]
    assert "projected" not in first, "no day of the month is whole yet"


def test_csv_equals_json(operator: Client):
    model = make.model(slug="ada", name="Ada")
    figure("win_rate", 2, 8, 4.5, dim="model", key=str(model.pk))
    series = operator.get(f"{URL}?metric=win_rate").json()["series"]
    assert [(line["key"], line["name"]) for line in series] == [("ada", "Ada")]
    response = operator.get(f"{URL}?metric=win_rate&as=csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    shown = [(row["key"], row["at"], row["value"] and float(row["value"]), int(row["n"])) for row in rows]
    points = series[0]["points"]
    assert shown == [("ada", each["at"], "" if each["value"] is None else each["value"], each["n"]) for each in points]


def test_owners_read_their_team_without_models():
    owner, member, outsider = make.user(), make.user(), make.user()
    team = make.team(owner, members={Role.MEMBER: [member]})
    figure("battles", 0, 3, 3, team=team)
    figure("battles", 0, 9, 9)
    address = f"{URL}?metric=battles&team={team.slug}"
    reader = in_team(owner, team)
    assert values(reader.get(address))[-1] == values(reader.get(f"{URL}?metric=battles"))[-1] == 3
    assert values(make.browser(Actor(user=owner)).get(address))[-1] == 3
    assert reader.get(f"{URL}?metric=cost&by=model").status_code == 403
    assert reader.get(f"{URL}?metric=cost&model=ada").status_code == 403
    assert reader.get(f"{URL}?metric=win_rate").status_code == 403
    assert make.api(owner).get(f"{URL}?metric=battles").status_code == 403
    assert make.api(owner).get(address).status_code == 404
    assert in_team(member, team).get(address).status_code == 403
    assert make.api(outsider).get(address).status_code == 404
    assert Client().get(address).status_code == 401
    assert make.api(owner, scopes=[Scope.READ]).get(address).status_code == 403


def test_team_token_of_an_operator_reads_its_team_alone():
    boss = User.objects.create_superuser("boss@example.org", "a-good-password")
    team, other = make.team(boss), make.team()
    figure("battles", 0, 3, 3, team=team)
    client = in_team(boss, team)
    assert values(client.get(f"{URL}?metric=battles"))[-1] == 3
    assert client.get(f"{URL}?metric=battles&team={other.slug}").status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "metric"),
        ("metric=nothing", "metric"),
        ("metric=battles&bucket=hour", "bucket"),
        ("metric=battles&from=2026-01-01&to=2025-01-01", "from"),
        ("metric=battles&from=1996-01-01", "from"),
        ("metric=battles&from=2000-01-01&to=2029-12-31", "bucket"),
        ("metric=battles&from=20260101", "from"),
        ("metric=battles&to=2026-02-30", "to"),
        ("metric=battles&by=key%27%20OR%201=1", "by"),
        ("metric=battles&by=mode&language=en", "by"),
        ("metric=battles&mode=blind&language=en", "by"),
        ("metric=counted_share&by=model", "by"),
        ("metric=saved&mode=blind", "mode"),
        ("metric=active_people_28d&bucket=week", "bucket"),
        ("metric=battles&as=xml", "as"),
        ("metric=cost&model=" + ",".join(map(str, range(60))), "model"),
    ],
)
def test_bad_question_is_refused_by_its_parameter(operator: Client, query: str, field: str):
    response = operator.get(f"{URL}?{query}")
    assert response.status_code == 400, response.content
    assert list(response.json()["fields"]) == [field]


def test_more_than_fifty_series_are_refused(operator: Client):
    rows = [
        MetricDay(metric="failures", day=today(), dim="code", key=f"code-{number}", n=1, total=1)
        for number in range(51)
    ]
    MetricDay.objects.bulk_create(rows)
    response = operator.get(f"{URL}?metric=failures&by=code")
    assert (response.status_code, list(response.json()["fields"])) == (400, ["by"])


def test_few_persons_who_returned_are_not_shown(operator: Client):
    monday = today() - today().weekday() * DAY
    for week, returned in (("1", 4), ("2", 5)):
        MetricDay.objects.create(
            metric="retention", day=monday, span="week", dim="week", key=week, n=10, total=returned
        )
    series = operator.get(f"{URL}?metric=retention&from={monday}").json()["series"]
    assert [(line["key"], line["points"][0]["value"]) for line in series] == [("1", None), ("2", 0.5)]


def test_quantile_is_read_from_buckets(operator: Client):
    figure("battles_per_person", 0, 10, 30, buckets=[1, 6, 6, 4])
    figure("first_token", 0, 2, 300, buckets=[40, 2])
    assert values(operator.get(f"{URL}?metric=battles_per_person_p50"))[-1] == 1
    assert values(operator.get(f"{URL}?metric=battles_per_person_p90"))[-1] == 6
    assert values(operator.get(f"{URL}?metric=first_token_p50"))[-1] == pytest.approx(1.12**40.5)


def test_catalogue_names_every_metric(operator: Client):
    metrics = {row["metric"]: row for row in operator.get(f"{URL}catalogue/").json()["metrics"]}
    assert metrics["win_rate"]["by"] == ["model"]
    assert metrics["active_people_7d"]["buckets"] == ["day"]
    for name, row in metrics.items():
        by = f"&by={row['by'][0]}" if row["by"] else ""
        assert operator.get(f"{URL}?metric={name}{by}").status_code == 200


def test_teams_are_series_for_operators(operator: Client):
    owner = make.member()
    physics, chemistry = make.team(owner.user), make.team()
    for team, battles in ((None, 9), (physics, 4), (chemistry, 3)):
        figure("battles", 0, battles, battles, team=team)
        figure("time_to_vote", 0, 2, 4, team=team, buckets=[5, 2])
    series = operator.get(f"{URL}?metric=battles&by=team").json()["series"]
    found = {(line["key"], line["name"]): line["points"][-1]["value"] for line in series}
    assert found == {(physics.slug, physics.name): 4, (chemistry.slug, chemistry.name): 3}
    assert len(operator.get(f"{URL}?metric=time_to_vote_p50&by=team").json()["series"]) == 2
    assert operator.get(f"{URL}?metric=battles&by=team&mode=blind").status_code == 400
    assert operator.get(f"{URL}?metric=win_rate&by=team").status_code == 400, "none about everything"
    assert operator.get(f"{URL}?metric=battles&by=team&team={physics.slug}").status_code == 400
    assert in_team(owner.user, physics).get(f"{URL}?metric=battles&by=team").status_code in (400, 403)


def test_figures_not_counted_yet_have_no_value(operator: Client, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 11, 1, tzinfo=UTC))
    figure("active_people", 2, 8, 8, span="7d")
    days = "from=2026-11-08&to=2026-11-12"
    assert values(operator.get(f"{URL}?metric=active_people_7d&{days}")) == [0, 8, None, None, None]
    assert values(operator.get(f"{URL}?metric=battles&{days}")) == [0, 0, 0, 0, None]
    assert values(operator.get(f"{URL}?metric=active_people&bucket=week&{days}")) == [0, None]


def test_return_is_unfinished_for_seven_days(operator: Client, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 20, 12, tzinfo=UTC))
    for days_ago in (7, 8):
        figure("funnel_back", days_ago, 4, 1)
    [old, new] = operator.get(f"{URL}?metric=funnel_back&from=2026-11-12&to=2026-11-13").json()["series"][0]["points"]
    assert "unfinished" not in old
    assert new["unfinished"] is True


def test_few_persons_of_a_cohort_are_not_counted_for_readers(operator: Client):
    figure("retention", today().weekday(), 3, 3, span="week", dim="week", key="0")
    [point] = operator.get(f"{URL}?metric=retention&from={today()}&to={today()}").json()["series"][0]["points"]
    assert (point["value"], point["few"], point["n"]) == (None, True, 0)


def test_reservations_are_not_projected(operator: Client, monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 11, 12, tzinfo=UTC))
    for metric in ("spent", "unsettled"):
        figure(metric, 1, 1, 10)
    for metric, is_projected in (("spent", True), ("unsettled", False)):
        points = operator.get(f"{URL}?metric={metric}&bucket=month&from=2026-11-01").json()["series"][0]["points"]
        assert ("projected" in points[-1]) == is_projected
