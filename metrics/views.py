from typing import cast
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.actor import ActorRequest
from accounts.models import Team
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles.models import Battle
from common.errors import NotAllowed
from metrics.access import is_operator, readable_team
from metrics.catalogue import Bucket
from metrics.chart_list import OF_TEAMS, PAGES, Page
from metrics.csv_file import series_as_csv
from metrics.pages import PageQuery, read_funnel, read_page
from metrics.periods import period_links
from metrics.series import SeriesQuery, read_series
from metrics.texts import day_text


@require_safe
def operators(request: HttpRequest, page: Page) -> HttpResponse:
    actor = cast(ActorRequest, request).actor
    if not is_operator(actor):
        raise PermissionDenied
    team = readable_team(actor, request.GET.get("team", ""))
    if request.GET.get("as") == "csv":
        return series_as_csv(read_series(SeriesQuery.read(request.GET.dict(), team)))
    query = PageQuery.read(request.GET.dict(), team, reads_models=True)
    context = {
        **admin.site.each_context(request),
        **_context(page, query),
        "title": page.title,
        "pages": [(each, reverse(f"metrics:{each.slug}")) for each in PAGES],
        "asks_model": True,
        "teams": Team.objects.order_by("name").only("name", "slug"),
    }
    return render(request, "admin/metrics/page.html", context)


@login_required
@require_safe
def of_team(request: HttpRequest, slug: str, page: Page) -> HttpResponse:
    member = find_member(cast(ActorRequest, request).actor, slug, Right.OWN)
    if request.GET.get("as") == "csv":
        series_query = SeriesQuery.read(request.GET.dict(), member.team)
        if series_query.reads_models:
            raise NotAllowed
        return series_as_csv(read_series(series_query))
    query = PageQuery.read(request.GET.dict(), member.team, reads_models=False)
    pages = [(each, reverse(f"team_metrics:{each.slug}", args=[slug])) for each in OF_TEAMS]
    return render(request, "metrics/team.html", {**team_context(member), **_context(page, query), "pages": pages})


def _context(page: Page, query: PageQuery) -> dict[str, object]:
    charts, marks = read_page(page, query)
    return {
        "page": page,
        "query": query,
        "charts": charts,
        "steps": read_funnel(query) if page.slug == "funnel" else [],
        "marks": [(mark, day_text(mark.start.isoformat(), query.bucket)) for mark in marks],
        "periods": period_links(query, query.kept),
        "modes": Battle.Mode.choices,
        "buckets": [(Bucket.DAY, _("day")), (Bucket.WEEK, _("week")), (Bucket.MONTH, _("month"))],
        "kept_query": urlencode(query.parameters),
    }
