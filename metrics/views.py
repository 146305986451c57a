from dataclasses import replace
from functools import lru_cache, partial
from typing import cast
from urllib.parse import urlencode

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.actor import ActorRequest
from accounts.models import Team
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles.models import Battle
from common.cache import TTLCached
from common.errors import NotAllowed
from metrics.access import is_operator, readable_team
from metrics.catalogue import Bucket
from metrics.chart_list import OF_TEAMS, PAGES, Page
from metrics.csv_file import series_as_csv
from metrics.pages import PageQuery, read_funnel, read_page
from metrics.periods import period_links
from metrics.series import SeriesQuery, read_series
from metrics.texts import day_text

# Seconds in which readers of a page get the same charts: figures change every ten minutes.
CHARTS_KEPT_S = 60
# Pages in the memory of a process, of up to 200 kB each.
MAX_KEPT_PAGES = 32


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
    return {
        "page": page,
        "query": query,
        "charts_html": kept_charts(page, query, get_language())(),
        "periods": period_links(query, query.kept),
        "modes": Battle.Mode.choices,
        "buckets": [(Bucket.DAY, _("day")), (Bucket.WEEK, _("week")), (Bucket.MONTH, _("month"))],
        "kept_query": urlencode(query.parameters),
    }


@lru_cache(maxsize=MAX_KEPT_PAGES)
def kept_charts(page: Page, query: PageQuery, _language: str | None) -> TTLCached[SafeString]:
    return TTLCached(partial(_charts, page, query), ttl_s=CHARTS_KEPT_S)


def _charts(page: Page, query: PageQuery) -> SafeString:
    if query.team is not None:  # of the request for which they were first drawn
        query = replace(query, team=Team.objects.get(pk=query.team.pk))
    charts, marks = read_page(page, query)
    context = {
        "charts": charts,
        "steps": read_funnel(query) if page.slug == "funnel" else [],
        "marks": [(mark, day_text(mark.start.isoformat(), query.bucket)) for mark in marks],
    }
    return render_to_string("metrics/charts.html", context)
