import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import NamedTuple

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_safe
from django_htmx.middleware import HtmxDetails

from accounts.access import Access
from accounts.actor import ActorRequest
from accounts.models import Team, User
from accounts.open_streams import right_of_request, until_lost
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from battles import series
from common import sse
from common.caching import public
from common.db.replica import reads_replica
from common.errors import InvalidInput
from common.text import markdown
from common.valkey import stream_slots
from leaderboard import actions, live_updates
from leaderboard.boards import changes, queries, snapshots
from leaderboard.boards.charts import read_charts
from leaderboard.boards.csv_file import csv_response
from leaderboard.boards.facts import agreement_rows, describe_facts, sampling_shares_by_name
from leaderboard.boards.head_to_head import read_head_to_head
from leaderboard.boards.history import read_history
from leaderboard.boards.model_page import get_public_model, read_model_page
from leaderboard.boards.personal.own_board import read_own_board, read_team_taste
from leaderboard.boards.personal.table import own_board_csv, own_rows
from leaderboard.boards.places import read_place
from leaderboard.boards.snapshots import read_published
from leaderboard.boards.standings import model_label
from leaderboard.boards.table import standing_rows, tables
from leaderboard.boards.team_settings import board_choices, read_settings
from leaderboard.boards.titles import board_titles
from leaderboard.boards.weekly_stars import read_weekly_stars
from leaderboard.counting.board_keys import Board
from leaderboard.errors import NoSuchModel, NoSuchSnapshot, ReviewIsDecided
from leaderboard.exports.access import may_read_exports
from leaderboard.models import OVERALL, AnomalyReview
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.payload_types import OwnBoardPayload
from leaderboard.releases.data_page import read_data_page
from models_registry.models import LanguageModel
from models_registry.picking import read_picker

SNAPSHOTS_PER_PAGE = 50
MAX_REASON = 500


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
    place = read_place(request)
    query = _of_readable_review(request, queries.BoardQuery.read(request.GET, place.team))
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
        "board_place": place,
        "tables": tables(payload["results"], link=not is_imported, query=place.only),
        "has_preliminary": any(line["preliminary"] for line in payload["results"]),
        "is_imported": is_imported,
    }
    if request.htmx:
        return render(request, "leaderboard/board.html#table", context)
    reader = stream_slots.reader_parameter(request.actor.key if request.actor.is_known else "")
    return render(request, "leaderboard/board.html", {**context, **_choices(query), "reader": reader})


def _of_readable_review(request: ActorRequest, query: queries.BoardQuery) -> queries.BoardQuery:
    """Return the query with the review that its board names, if the reader may see the board."""
    named = "" if query.team else Board(query.board).named_review
    return replace(query, series=named) if named and series.owner().may_read_board(request.actor, named) else query


@require_safe
def own_board(request: ActorRequest) -> HttpResponse:
    return _own_board_response(request, read_own_board(request.actor), "leaderboard/own_board.html", {})


@require_safe
def team_taste(request: ActorRequest, slug: str) -> HttpResponse:
    member = find_member(request.actor, slug, Right.SEE)
    taste = read_team_taste(member.team)
    return _own_board_response(request, taste, "leaderboard/team_taste.html", team_context(member))


def _own_board_response(
    request: ActorRequest, own: OwnBoardPayload, template: str, context: dict[str, object]
) -> HttpResponse:
    match request.GET.get("format"):
        case "json":
            return JsonResponse(own)
        case "csv":
            return own_board_csv(own)
    return render(request, template, {"own": own, "rows": own_rows(own), **context})


@require_http_methods(["GET", "HEAD", "POST"])
def team_boards(request: ActorRequest, slug: str) -> HttpResponse:
    member, user = find_member(request.actor, slug, Right.OWN), request.actor.user
    team = member.team
    if request.method == "POST" and user is not None:
        if review := request.POST.get("review", ""):
            return _decide_team_review(request, team, user, review)
        offered = {choice.name for choice in board_choices(team)}
        actions.choose_team_boards(
            by=user,
            team=team,
            names=offered & set(request.POST.getlist("boards")),
            counts_on_site_boards="counts_on_site_boards" in request.POST,
        )
        messages.success(request, _("Saved."))
        return redirect(request.path)
    return render(request, "leaderboard/team_boards.html", {**team_context(member), "settings": read_settings(team)})


def _decide_team_review(request: HttpRequest, team: Team, user: User, review: str) -> HttpResponse:
    state, because = request.POST.get("state", ""), request.POST.get("because", "").strip()[:MAX_REASON]
    if not review.isdecimal() or state not in (AnomalyReview.State.DISMISSED, AnomalyReview.State.EXCLUDED):
        raise InvalidInput
    with suppress(ReviewIsDecided):  # a double click
        found = get_object_or_404(AnomalyReview, pk=int(review[:18]), team=team)
        actions.decide_team_review(found, state, by=user, because=because)
    messages.success(request, _("Decided. The next run publishes it."))
    return redirect(request.path)


@public
@require_safe
@reads_replica
def charts(request: ActorRequest) -> HttpResponse:
    place = read_place(request)
    query = queries.BoardQuery.read(request.GET, place.team)
    context = {
        "charts": read_charts(query),
        "query": query,
        "board_place": place,
        # Contestants of an imported board have no pages to compare.
        "compare_base": "" if query.board.startswith(IMPORTED) else reverse("leaderboard:compare_choice"),
        **_choices(query),
    }
    return render(request, "leaderboard/charts.html", context)


@require_GET
def stream(request: ActorRequest) -> StreamingHttpResponse:
    """Stream new snapshots and votes without a query per reader."""
    key = request.GET.get("board", OVERALL).replace("\x00", "")
    shown, seen = request.headers.get("Last-Event-ID") or request.GET.get("shown", ""), request.GET.get("seen", "")
    last_vote = int(seen) if re.fullmatch("[0-9]{1,18}", seen) else 0
    place = read_place(request)
    events = live_updates.board_events(Board(key, place.team_id).scope, shown=shown, seen=last_vote)
    person = request.actor.key if place.team or settings.ARENA_ACCESS == Access.PRIVATE else ""
    right = right_of_request(request, person=person, token=request.actor.token, team=place.team_id)
    events = until_lost(events, right, last=lambda: b"")
    return sse.EventStreamResponse(request, events, person=stream_slots.person_of_request(request))


@public
@require_safe
@reads_replica
def model(request: ActorRequest, slug: str) -> HttpResponse:
    place = read_place(request, NoSuchModel)
    page = read_model_page(slug, place.team)
    points = read_history(OVERALL, [slug], place.team)["series"][0]["points"]
    rows = standing_rows(page["standings"])
    context = {
        "page": page,
        "overall": next((row for row in rows if row["line"]["board"] == OVERALL), None),
        "rows": rows,
        "history": [{"id": slug, "name": model_label(page["model"]), "points": points}],
        "stars": read_weekly_stars([slug], place.team_id),
        "board_place": place,
    }
    return render(request, "leaderboard/model.html", context)


@public
@require_safe
@reads_replica
def compare_choice(request: ActorRequest) -> HttpResponse:
    place = read_place(request, NoSuchModel)
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    if a and b and a != b:
        models = [get_public_model(name, place.team) for name in (a, b)]
        return redirect(reverse("leaderboard:compare", args=[model.full_slug for model in models]) + place.only)
    context = {"same": bool(a and a == b), "board_place": place, **_pair_pickers(request, a, b, place.team)}
    return render(request, "leaderboard/compare.html", context)


@public
@require_safe
@reads_replica
def compare(request: ActorRequest, a: str, b: str) -> HttpResponse:
    place = read_place(request, NoSuchModel)
    if a == b:
        raise Http404
    pair = read_head_to_head(get_public_model(a, place.team), get_public_model(b, place.team), place.team)
    context = {"pair": pair, "board_place": place, **_pair_pickers(request, a, b, place.team)}
    return render(request, "leaderboard/compare.html", context)


@public
@require_safe
@reads_replica
def snapshot_list(request: ActorRequest) -> HttpResponse:
    place = read_place(request)
    page = Paginator(read_published(request.GET, place.team), SNAPSHOTS_PER_PAGE).get_page(request.GET.get("page"))
    names = [Board.parse(run.scope).name for run in page]
    titles = board_titles(set(names), place.team_id)
    runs = [(run, name, titles[name]) for run, name in zip(page, names, strict=True)]
    context = {"page_obj": page, "runs": runs, "board_place": place}
    return render(request, "leaderboard/snapshots.html", context)


@public
@require_safe
@reads_replica
def snapshot(request: ActorRequest, public_id: str) -> HttpResponse:
    place = read_place(request, NoSuchSnapshot)
    payload = snapshots.read_snapshot(public_id, place.team)
    names = {line["model"]["id"]: model_label(line["model"]) for line in payload["results"] + payload["collecting"]}
    context = {
        "snapshot": payload,
        "facts": describe_facts(payload["facts"], names),
        "shares": sampling_shares_by_name(payload["facts"], names),
        "agreement": agreement_rows(payload["results"]),
        "tables": tables(payload["results"], link=not payload["board"].startswith(IMPORTED), query=place.only),
        "may_read_exports": may_read_exports(request.actor),
        "is_public": settings.ARENA_PUBLISH_VOTES and not place.team,
        "board_place": place,
    }
    return render(request, "leaderboard/snapshot.html", context)


@public
@require_safe
@reads_replica
def snapshot_changes(request: ActorRequest, public_id: str) -> HttpResponse:
    place, since = read_place(request, NoSuchSnapshot), request.GET.get("since", "").replace("\x00", "")
    read = changes.read_changes(public_id, since=since, team=place.team)
    return render(request, "leaderboard/changes.html", {"changes": read, "board_place": place})


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


def _pair_pickers(request: HttpRequest, a: str, b: str, team: Team | None) -> dict[str, object]:
    shows_all = "all" in request.GET
    one = read_picker("first", chosen=[a], shows_all=shows_all, place=team)
    other = b or next((row.model.full_slug for row in one.rows if not row.is_chosen), "")
    return {"one_picker": one, "other_picker": read_picker("second", chosen=[other], shows_all=shows_all, place=team)}


def _choices(query: queries.BoardQuery) -> dict[str, object]:
    models = LanguageModel.objects.on_boards_of(query.team_id)
    public = models.exclude(status=LanguageModel.Status.DRAFT).order_by()
    rows = set(public.values_list("organization", "license", "license_kind"))
    return {
        "board_choices": _grouped(queries.board_names(shown=query.board, team=query.team)),
        "organizations": sorted({row[0] for row in rows if row[0]}),
        "licenses": sorted({row[1] or row[2] for row in rows}),
    }


def _grouped(titles: dict[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    headings = {
        "category": _("Categories"), "language": _("Languages"), "imported": _("Imported"), "review": _("Reviews"),
    }  # fmt: skip
    kinds = groupby(titles.items(), key=lambda board: headings.get(Board(board[0]).kind, ""))
    return [(heading, list(choices)) for heading, choices in kinds]
