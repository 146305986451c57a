import re
from functools import cache
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_safe
from django_htmx.middleware import HtmxDetails

from accounts.access import Access
from accounts.actor import ActorRequest
from accounts.open_streams import right_of_request, until_lost
from common import sse
from common.caching import public
from common.db.replica import reads_replica
from common.text import markdown
from common.valkey import stream_slots
from leaderboard import live_updates
from leaderboard.boards import changes, queries, snapshots
from leaderboard.boards.charts import read_charts
from leaderboard.boards.csv_file import csv_response
from leaderboard.boards.facts import agreement_rows, describe_facts, sampling_shares_by_name
from leaderboard.boards.head_to_head import read_head_to_head
from leaderboard.boards.history import read_history
from leaderboard.boards.model_page import get_public_model, read_model_page
from leaderboard.boards.table import standing_rows, tables
from leaderboard.boards.titles import board_titles
from leaderboard.boards.weekly_stars import read_weekly_stars
from leaderboard.exports.access import may_read_exports
from leaderboard.models import OVERALL, AggregationRun
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.releases.data_page import read_data_page
from models_registry.models import LanguageModel
from models_registry.picking import read_picker

SNAPSHOTS_PER_PAGE = 50


class HtmxRequest(ActorRequest):
    htmx: HtmxDetails


class Section(NamedTuple):
    title: str
    text: SafeString
    folded: list[tuple[str, SafeString]]


@public
@require_safe
@reads_replica
def board(request: HtmxRequest) -> HttpResponse:
    query = queries.BoardQuery.read(request.GET)
    payload = queries.read_board(query)
    match request.GET.get("format"):
        case "json":
            return JsonResponse(payload)
        case "csv":
            return csv_response(payload)
    is_imported = query.board.startswith(IMPORTED)
    context = {
        "board": payload,
        "query": query,
        "tables": tables(payload["results"], link=not is_imported),
        "has_preliminary": any(line["preliminary"] for line in payload["results"]),
        "is_imported": is_imported,
    }
    if request.htmx:
        return render(request, "leaderboard/board.html#table", context)
    reader = stream_slots.reader_parameter(request.actor.key if request.actor.is_known else "")
    return render(request, "leaderboard/board.html", {**context, **_choices(query.board), "reader": reader})


@public
@require_safe
@reads_replica
def charts(request: HttpRequest) -> HttpResponse:
    query = queries.BoardQuery.read(request.GET)
    context = {
        "charts": read_charts(query),
        "query": query,
        # Contestants of an imported board have no pages to compare.
        "compare_base": "" if query.board.startswith(IMPORTED) else reverse("leaderboard:compare_choice"),
        **_choices(query.board),
    }
    return render(request, "leaderboard/charts.html", context)


@require_GET
def stream(request: ActorRequest) -> StreamingHttpResponse:
    """Stream new snapshots and votes without a query per reader."""
    key = request.GET.get("board", OVERALL).replace("\x00", "")
    shown, seen = request.headers.get("Last-Event-ID") or request.GET.get("shown", ""), request.GET.get("seen", "")
    last_vote = int(seen) if re.fullmatch("[0-9]{1,18}", seen) else 0
    events = live_updates.board_events(key, shown=shown, seen=last_vote)
    person = request.actor.key if settings.ARENA_ACCESS == Access.PRIVATE else ""
    events = until_lost(events, right_of_request(request, person=person), last=lambda: b"")
    return sse.EventStreamResponse(request, events, person=stream_slots.person_of_request(request))


@public
@require_safe
@reads_replica
def model(request: HttpRequest, slug: str) -> HttpResponse:
    page = read_model_page(slug)
    points = read_history(OVERALL, [slug])["series"][0]["points"]
    rows = standing_rows(page["standings"])
    context = {
        "page": page,
        "overall": next((row for row in rows if row["line"]["board"] == OVERALL), None),
        "rows": rows,
        "history": [{"id": slug, "name": page["model"]["name"], "points": points}],
        "stars": read_weekly_stars([slug]),
    }
    return render(request, "leaderboard/model.html", context)


@public
@require_safe
@reads_replica
def compare_choice(request: HttpRequest) -> HttpResponse:
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    if a and b and a != b:
        return redirect(reverse("leaderboard:compare", args=[get_public_model(a).slug, get_public_model(b).slug]))
    context = {"same": bool(a and a == b), **_pair_pickers(request, a, b)}
    return render(request, "leaderboard/compare.html", context)


@public
@require_safe
@reads_replica
def compare(request: HttpRequest, a: str, b: str) -> HttpResponse:
    if a == b:
        raise Http404
    pair = read_head_to_head(get_public_model(a), get_public_model(b))
    return render(request, "leaderboard/compare.html", {"pair": pair, **_pair_pickers(request, a, b)})


@public
@require_safe
@reads_replica
def snapshot_list(request: HttpRequest) -> HttpResponse:
    published = AggregationRun.objects.published(request.GET.get("board", "").replace("\x00", ""))
    page = Paginator(published, SNAPSHOTS_PER_PAGE).get_page(request.GET.get("page"))
    titles = board_titles({run.scope for run in page})
    context = {"page_obj": page, "runs": [(run, titles[run.scope]) for run in page]}
    return render(request, "leaderboard/snapshots.html", context)


@public
@require_safe
@reads_replica
def snapshot(request: ActorRequest, public_id: str) -> HttpResponse:
    payload = snapshots.read_snapshot(public_id)
    names = {line["model"]["id"]: line["model"]["name"] for line in payload["results"] + payload["collecting"]}
    context = {
        "snapshot": payload,
        "facts": describe_facts(payload["facts"], names),
        "shares": sampling_shares_by_name(payload["facts"], names),
        "agreement": agreement_rows(payload["results"]),
        "tables": tables(payload["results"], link=not payload["board"].startswith(IMPORTED)),
        "may_read_exports": may_read_exports(request.actor),
        "is_public": settings.ARENA_PUBLISH_VOTES,
    }
    return render(request, "leaderboard/snapshot.html", context)


@public
@require_safe
@reads_replica
def snapshot_changes(request: HttpRequest, public_id: str) -> HttpResponse:
    since = request.GET.get("since", "").replace("\x00", "")
    return render(request, "leaderboard/changes.html", {"changes": changes.read_changes(public_id, since=since)})


@public
@require_safe
@reads_replica
def data(request: ActorRequest) -> HttpResponse:
    return render(request, "leaderboard/data.html", {"data": read_data_page(request.actor)})


@public
@require_safe
def method(request: HttpRequest) -> HttpResponse:
    opening, sections = _method_text(get_language() or "")
    return render(request, "leaderboard/method.html", {"opening": opening, "sections": sections})


@cache
def _method_text(language: str) -> tuple[SafeString, list[Section]]:
    docs = settings.BASE_DIR / "docs"
    translated = docs / f"method.{language}.md"
    source = (translated if translated.exists() else docs / "method.md").read_text()
    opening, parts = _divided(source, heading="##")
    sections = []
    for title, text in parts:
        beginning, details = _divided(text, heading="###")
        folded = [(name, markdown.render(detail)) for name, detail in details]
        sections.append(Section(title, markdown.render(beginning), folded))
    return markdown.render(opening, first_heading=1), sections


def _divided(text: str, *, heading: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text before the first heading, and [(heading, text below it)]."""
    opening, *rest = re.split(rf"^{heading} (.+)\n", text, flags=re.MULTILINE)
    return opening, list(zip(rest[::2], rest[1::2], strict=True))


def _pair_pickers(request: HttpRequest, a: str, b: str) -> dict[str, object]:
    shows_all = "all" in request.GET
    one = read_picker("first", chosen=[a], shows_all=shows_all)
    other = b or next((row.model.slug for row in one.rows if not row.is_chosen), "")
    return {"one_picker": one, "other_picker": read_picker("second", chosen=[other], shows_all=shows_all)}


def _choices(shown: str) -> dict[str, object]:
    public = LanguageModel.objects.exclude(status=LanguageModel.Status.DRAFT).order_by()
    rows = set(public.values_list("organization", "license", "license_kind"))
    return {
        "board_choices": _grouped(queries.board_names(shown=shown)),
        "organizations": sorted({row[0] for row in rows if row[0]}),
        "licenses": sorted({row[1] or row[2] for row in rows}),
    }


def _grouped(titles: dict[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    headings = {"category": _("Categories"), "language": _("Languages"), "imported": _("Imported")}
    kinds = groupby(titles.items(), key=lambda board: headings.get(board[0].partition(":")[0], ""))
    return [(heading, list(choices)) for heading, choices in kinds]
