"""The board as a page, and as files from the same address; and how it is computed."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

from common import markdown
from leaderboard import boards
from leaderboard.board_csv import as_csv
from models_registry.models import LanguageModel


class HtmxRequest(HttpRequest):
    htmx: HtmxDetails


@require_safe
def board(request: HtmxRequest) -> HttpResponse:
    query = boards.BoardQuery.read(request.GET)
    found = boards.read_board(query)
    match request.GET.get("format"):
        case "json":
            return JsonResponse(found)
        case "csv":
            filename = query.board.replace(":", "-")
            return HttpResponse(
                as_csv(found["results"]),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": f'attachment; filename="{filename}.csv"'},
            )
    template = "leaderboard/board.html#table" if request.htmx else "leaderboard/board.html"
    context = {"board": found, "query": query, "scale": _draw(found["results"]), **_choices()}
    return render(request, template, context)


@require_safe
def method(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/method.html", {"text": _method_text()})


@cache
def _method_text() -> SafeString:
    return markdown.render((settings.BASE_DIR / "docs" / "method.md").read_text())


def _choices() -> dict[str, list[str]]:
    """What the board can be filtered by."""
    public = LanguageModel.objects.exclude(status=LanguageModel.Status.DRAFT).order_by()
    said = set(public.values_list("organization", "license", "license_kind"))
    return {
        "organizations": sorted({organization for organization, _, _ in said if organization}),
        "licenses": sorted({license_name or kind for _, license_name, kind in said}),
    }


def _draw(results: list[dict[str, Any]]) -> dict[str, float] | None:
    """Give each line its `win_percent` and where its interval is drawn; returns the common scale, in points.

    A side without a bound is drawn to the end of the scale.
    """
    ends = [end for line in results for end in (line["ci_low"], line["ci_high"], line["score"]) if end is not None]
    if not ends:
        return None
    low, high = min(ends) - 10, max(ends) + 10
    for line in results:
        line["win_percent"] = 100 * line["win_rate"]
        line["drawn_from"] = low if line["ci_low"] is None else line["ci_low"]
        line["drawn_to"] = high if line["ci_high"] is None else line["ci_high"]
    return {"low": low, "span": high - low}
