import csv
import io
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User
from metrics.models import MetricDay
from metrics.pages import OF_TEAMS, PAGES
from metrics.series import today
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
