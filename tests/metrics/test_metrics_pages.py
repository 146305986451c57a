import csv
import io
import math
import re
import time
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Role, Team, User
from metrics import views
from metrics.catalogue import BY_NAME, Bucket
from metrics.chart_list import OF_TEAMS, PAGES
from metrics.charts import HEIGHT, draw
from metrics.marks import read_marks
from metrics.models import Deploy, MetricDay
from metrics.pages import PageQuery, marked_buckets
from metrics.series import today
from models_registry.models import LanguageModel, Price
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(client: Client, administrator: User) -> Client:
    client.force_login(administrator)
    return client


def test_pages_show_each_figure_as_chart_table_and_file(operator: Client):
    MetricDay.objects.create(metric="counted_share", day=today(), n=4, total=3)
    page = operator.get("/admin/metrics/").content.decode()
    assert "75.0" in page or "75 %" in page
    assert page.count("<svg") >= 1
    found = operator.get(f"/admin/metrics/?metric=counted_share&from={today()}&to={today()}&as=csv")
    [row] = csv.DictReader(io.StringIO(found.content.decode()))
    assert (row["value"], row["n"]) == ("0.75", "4")


def test_readers_within_a_minute_get_the_same_charts(operator: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(views, "CHARTS_KEPT_S", 60)
    team = make.team(slug="physics")
    MetricDay.objects.create(metric="counted_share", day=today(), n=4, total=3)
    first = operator.get("/admin/metrics/")
    with CaptureQueriesContext(connection) as queries:
        again = operator.get("/admin/metrics/")
    assert again.context["charts_html"] == first.context["charts_html"]
    assert not [query for query in queries if "metrics_metricday" in query["sql"]]
    others = (
        "/admin/metrics/funnel/",
        "/admin/metrics/?bucket=week",
        "/admin/metrics/?mode=blind",
        f"/admin/metrics/?team={team.slug}",
    )
    french = operator.get("/admin/metrics/", headers={"accept-language": "fr"})
    pages = [again, french, *(operator.get(address) for address in others)]
    assert len({page.context["charts_html"] for page in pages}) == len(pages)
    monkeypatch.setattr(time, "monotonic", lambda: math.inf)
    MetricDay.objects.update(total=1)
    assert "25 %" in operator.get("/admin/metrics/").context["charts_html"]


def test_kept_charts_show_the_present_budget(client: Client, monkeypatch: pytest.MonkeyPatch):
    owner = make.member()
    team, at = make.team(owner.user, slug="physics"), 0.0
    client.force_login(owner.user)
    monkeypatch.setattr(views, "CHARTS_KEPT_S", 60)
    monkeypatch.setattr(time, "monotonic", lambda: at)
    for budget in ("10", "50"):
        Team.objects.filter(pk=team.pk).update(day_budget=budget)
        page = client.get("/teams/physics/metrics/money/").content.decode()
        assert f"The line across is the present budget: ${budget}" in page
        at += 61


def test_every_page_opens_with_any_period_and_filter(operator: Client):
    model = make.model(slug="ada")
    for metric in ("failed_share", "win_rate", "cost", "first_token"):
        MetricDay.objects.create(
            metric=metric, day=today(), dim="model", key=str(model.pk), n=4, total=3, buckets=[5, 4]
        )
    since = today() - timedelta(days=1000)
    for page in PAGES:
        address = "/admin/metrics/" + ("" if page is PAGES[0] else f"{page.slug}/")
        for query in ("", "?mode=blind", "?language=en", "?model=ada", f"?from={since}&bucket=month"):
            assert operator.get(address + query).status_code == 200, address + query
        assert operator.get(address + "?mode=blind&language=en").status_code == 400
        assert operator.get(address + "?from=1&bucket=month").status_code == 400
    assert "ada" in operator.get("/admin/metrics/models/").content.decode().lower()


def test_queries_of_a_page_do_not_grow(operator: Client):
    operator.get("/admin/metrics/speed/")
    with CaptureQueriesContext(
        connection,
    ) as few:
        operator.get("/admin/metrics/speed/")
    rows = [MetricDay(metric="failed_share", day=today() - timedelta(days=n), n=4, total=3) for n in range(20)] + [
        MetricDay(metric="failures", day=today(), dim="code", key=str(n), n=4, total=4) for n in range(30)
    ]
    MetricDay.objects.bulk_create(rows)
    with CaptureQueriesContext(connection) as many:
        operator.get("/admin/metrics/speed/")
    assert len(many) == len(few)


def test_owners_see_the_figures_of_their_team_alone():
    owner, member = make.member(), make.member()
    team = make.team(owner.user, members={Role.MEMBER: [member.user]})
    MetricDay.objects.create(metric="counted_share", day=today(), n=4, total=3)
    browser, address = make.browser(owner), f"/teams/{team.slug}/metrics/"
    assert "<svg" not in browser.get(address).content.decode().split('id="counted-share"')[1].split("</figure>")[0]
    for page in OF_TEAMS[1:]:
        assert browser.get(f"{address}{page.slug}/").status_code == 200
    assert browser.get(f"{address}models/").status_code == 404
    assert browser.get(f"{address}?metric=win_rate&as=csv").status_code == 403
    assert browser.get("/admin/metrics/").status_code in (302, 403)
    assert make.browser(member).get(address).status_code == 403
    assert make.browser(make.member()).get(address).status_code == 404


def test_moderators_do_not_see_figures(client: Client):
    moderator = make.user(is_staff=True)
    client.force_login(moderator)
    assert client.get("/admin/metrics/").status_code == 403
    assert client.get("/admin/metrics/?metric=win_rate&as=csv").status_code == 403


def test_present_budget_is_a_line_across_what_was_spent(operator: Client, settings):
    MetricDay.objects.create(metric="spent", day=today(), n=1, total=2)
    settings.ARENA_BUDGETS = {**settings.ARENA_BUDGETS, "site": Decimal(8)}
    chart = chart_of(operator, "money", "spent")
    assert "present budget: $8" in chart
    assert "metric-limit" in chart
    assert "metric-limit" not in chart_of(operator, "money", "spent", "bucket=week")
    team = make.team()
    assert "metric-limit" not in chart_of(operator, "money", "spent", f"team={team.slug}")
    Team.objects.filter(pk=team.pk).update(month_budget=Decimal("12.5"))
    assert "$12.50" in chart_of(operator, "money", "spent", f"team={team.slug}&bucket=month")


def test_new_models_prices_and_deploys_are_marked(operator: Client):
    now = timezone.now()
    ada, _other = make.model(slug="ada", name="Ada"), make.model(slug="bob", name="Bob")
    LanguageModel.objects.update(created_at=now - timedelta(days=900))
    Price.objects.filter(model=ada).delete()
    for days, price in ((900, 1), (400, 2), (3, 3)):
        Price.objects.create(
            model=ada, input_per_million=price, output_per_million="0.5", valid_from=now - timedelta(days=days)
        )
    MetricDay.objects.create(metric="failed_share", day=today(), dim="model", key=str(ada.pk), n=4, total=1)
    Deploy.objects.create(version="9.9.9", commit="c0ffee" * 6, at=now - timedelta(days=3))
    page = operator.get("/admin/metrics/models/").content.decode()
    assert "Ada: $3 in, $0.50 out per million tokens; arena 9.9.9 (c0ffeec0)" in page.replace("&amp;", "&")
    assert "$2 in" not in page, "before the period"
    assert page.count('metric-mark"') == 1, "on the one chart with values"
    assert "Ada added" not in page
    long = operator.get(f"/admin/metrics/models/?bucket=month&from={today() - timedelta(days=1000)}").content.decode()
    assert "Ada added" in long
    assert "$2 in" in long
    assert "$1 in" not in long, "the first price is the model's own"
    assert "Bob" not in long, "not one of the lines"
    speed = operator.get("/admin/metrics/speed/").content.decode()
    assert "arena 9.9.9" in speed
    assert "Ada" not in speed


def test_each_version_of_the_arena_is_recorded_once_in_a_row():
    for version, commit in (("1.0", "a"), ("1.0", "a"), ("1.1", "b"), ("1.0", "a")):
        Deploy.record(version, commit)
    assert [str(deploy) for deploy in Deploy.objects.all()] == ["1.0 (a)", "1.1 (b)", "1.0 (a)"]


def test_marks_stand_where_the_event_was_on_each_chart(operator: Client):
    first, last = date(2026, 10, 1), date(2026, 11, 30)
    deploy = Deploy.objects.create(version="9.9.9", at=datetime(2026, 11, 20, tzinfo=UTC))
    Deploy.objects.create(version="9.9.8", at=datetime(2026, 10, 3, tzinfo=UTC))
    marks = read_marks(date(2026, 10, 10), last, Bucket.MONTH, [])
    assert [mark.texts for mark in marks] == [["arena 9.9.8"], [f"arena {deploy}"]]
    query = PageQuery(first, last, Bucket.MONTH, {})
    daily = query.of_metric(PAGES[0].charts[2], BY_NAME["active_people_7d"])
    marked = dict(marked_buckets(marks, daily))
    assert [daily.starts[index] for index in marked] == [date(2026, 10, 3), date(2026, 11, 20)]
    assert list(marked.values()) == [1, 2]


def test_models_page_opens_with_a_mode_and_many_models(operator: Client):
    rows = [
        MetricDay(metric=metric, day=today(), dim="model", key=str(make.model().pk), n=4, total=3)
        for metric in ("failed_share", "win_rate") for _ in range(55)
    ]  # fmt: skip
    MetricDay.objects.bulk_create(rows)
    for query in ("", "mode=blind", "language=en", "model=gone"):
        assert operator.get(f"/admin/metrics/models/?{query}").status_code == 200, query


def test_funnel_has_shares_of_the_first_and_the_previous_step(operator: Client):
    for step, total in (("begun", 200), ("whole", 160), ("voted", 80), ("feedback", 20), ("again", 50)):
        MetricDay.objects.create(metric=f"funnel_{step}", day=today(), n=200, total=total)
    MetricDay.objects.create(metric="funnel_back", day=today(), n=40, total=10)
    page = operator.get("/admin/metrics/funnel/").content.decode()
    rows = re.findall(r"<tr>(.*?)</tr>", page.split('id="steps"')[1].split("</section>")[0], re.DOTALL)[1:]
    cells = [re.findall(r'number">([^<]*)<', row) for row in rows]
    assert cells == [
        ["200", "100 %", "–"], ["160", "80 %", "80 %"], ["80", "40 %", "50 %"], ["20", "10 %", "25 %"],
        ["50", "25 %", "250 %"], ["10", "25 %", "20 %"],
    ]  # fmt: skip
    assert 'id="steps"' not in operator.get("/admin/metrics/funnel/?mode=blind").content.decode()


def test_chart_says_that_it_shows_the_largest_series_only(operator: Client):
    for number in range(10):
        MetricDay.objects.create(metric="failures", day=today(), dim="code", key=f"code{number}", n=9, total=number + 1)
    assert "8 largest series" in chart_of(operator, "speed", "failures-code")


def test_negative_projection_is_inside_the_picture():
    drawing = draw([[-1.0]], projected=[-3.0])
    [point] = drawing.projected
    assert point is not None
    assert 0 <= point[1] <= HEIGHT


def chart_of(client: Client, page: str, chart: str, query: str = "") -> str:
    """Return the figure with the id of a page."""
    text = client.get(f"/admin/metrics/{page}/?{query}").content.decode()
    return next(part for part in text.split("<figure") if f'id="{chart}"' in part).split("</figure>")[0]
