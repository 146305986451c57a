"""Pages of reviews. The battles themselves are on the ordinary battle page."""

from collections.abc import Callable
from typing import TypedDict

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import ensure_known_actor
from benchmarks.access import get_run_or_404
from benchmarks.access import may_change as may_change_run
from benchmarks.models import Run
from benchmarks.views.pages import PageRequest, member_of, redirect_to
from common.errors import ArenaError, NotAllowed
from leaderboard.boards.table import tables
from reviews import access, actions
from reviews.actions.contrasts import read_contrasts
from reviews.answers import read_answers
from reviews.boards import read_review_board
from reviews.codes import shown_code
from reviews.evidence import NetworkPeople, read_networks
from reviews.forms import ReviewForm
from reviews.grading.payloads import grades_payload
from reviews.grading.results import read_grade_results
from reviews.models import Review
from reviews.queries import (
    joined_sentence,
    list_reviews,
    read_own,
    read_progress,
    read_totals,
    retired_models,
    voted_by,
)
from reviews.question_forms import TermsEditor
from reviews.views import second_opinions
from reviews.views.grading import to_next_answer
from reviews.views.own_prompts import new_of_prompts

PER_PAGE = 30
MOVES: dict[str, Callable[[Review], object]] = {
    "open": actions.open_review,
    "close": actions.close_review,
    "withdraw": actions.withdraw_review,
    "new-code": actions.renew_code,
    "close-link": actions.close_link,
}


@require_safe
def index(request: PageRequest) -> HttpResponse:
    lists = list_reviews(request.actor)
    asked = Paginator(lists.asked, PER_PAGE).get_page(request.GET.get("page"))
    own = list(lists.own[:PER_PAGE])
    rows = list(asked)
    voted = voted_by(request.actor, [*rows, *own])
    context = {
        "page_obj": asked,
        "asked": [(review, voted[review.pk]) for review in rows],
        "own": [(review, voted[review.pk]) for review in own],
    }
    return render(request, "reviews/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    """Show the form of a review of the run `?run=`, without one that of own prompts, and store a draft."""
    if "run" not in request.GET:
        return new_of_prompts(request)
    run = _run_to_review(request)
    unsaved = Review(
        run=run, team=run.team, title=(run.name or run.version.template.name)[: Review.MAX_TITLE],
        audience=Review.Audience.MEMBERS if run.team_id is None else Review.Audience.TEAM,
    )  # fmt: skip
    editor = TermsEditor(request.POST if request.method == "POST" else None, review=unsaved)
    if editor.is_sent and editor.is_valid():
        try:
            review = actions.create_review(owner=member_of(request), run=run, **editor.terms)
        except ArenaError as refusal:
            _add_refusal(editor.form, refusal)
        else:
            return redirect_to(request, review.settings_url)
    return _terms_page(request, "reviews/new.html", editor, {"run": run})


def _terms_page(request: PageRequest, template: str, editor: TermsEditor, context: dict[str, object]) -> HttpResponse:
    name = "reviews/questions_form.html" if request.htmx and editor.is_moved else template
    context |= {"editor": editor, "form": editor.form, "here": request.get_full_path()}
    return render(request, name, context, status=422 if editor.is_sent else 200)


def _run_to_review(request: PageRequest) -> Run:
    run = get_run_or_404(request.actor, request.GET.get("run", ""))
    if not may_change_run(request.actor, run):
        raise NotAllowed if run.team_id in request.actor.memberships else Http404
    return run


def _add_refusal(form: ReviewForm, refusal: ArenaError) -> None:
    if not refusal.fields:
        form.add_error(None, refusal.detail)
    for name, lines in (refusal.fields or {}).items():
        form.add_error(name if name in form.fields else None, lines)


@require_safe
def show(request: PageRequest, public_id: str) -> HttpResponse:
    review = access.get_review_or_404(request.actor, public_id)
    if review.battle is not None:
        return second_opinions.invitation(request, review)
    context = {
        "review": review,
        "is_asked": access.belongs_to_audience(request.actor, review),
        "manages": access.may_manage(request.actor, review),
        "knows": access.knows_answers(request.actor, review),
        "own": read_own(request.actor, review),
        "shows_results": access.shows_results(request.actor, review),
        "is_done": "done" in request.GET,
        "contrasts": read_contrasts(review),
    }
    return render(request, "reviews/review.html", context)


@require_POST
def next_one(request: PageRequest, public_id: str) -> HttpResponse:
    """Redirect to the next battle or answer to grade, back to the review if none is left."""
    review = access.get_review_or_404(request.actor, public_id)
    if not access.belongs_to_audience(request.actor, review):
        raise NotAllowed
    if review.is_graded:
        return to_next_answer(request, review)
    try:
        battle = actions.next_battle(ensure_known_actor(request), review)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
        return redirect_to(request, review.get_absolute_url())
    if battle is None and review.battle_id is not None and access.shows_results(request.actor, review):
        return redirect_to(request, reverse("reviews:results", args=[review.public_id]))
    if battle is None:
        return redirect_to(request, f"{review.get_absolute_url()}?done")
    return redirect_to(request, battle.get_absolute_url())


@require_safe
def results(request: PageRequest, public_id: str) -> HttpResponse:
    review = access.get_review_or_404(request.actor, public_id)
    if review.battle is not None:
        return second_opinions.spread(request, review)
    shown = access.shows_results(request.actor, review)
    context: dict[str, object] = {
        "review": review,
        "shows_results": shown,
        "manages": access.may_manage(request.actor, review),
        "left_out": review.left_out_sentences,
    }
    if shown and review.is_graded:
        context["graded"] = grades_payload(review, read_grade_results(review))
    elif shown:
        board = read_review_board(review)
        context |= {"board": board, "tables": tables(board.results, link=review.team_id is None)}
    if shown:
        context["totals"] = totals = read_totals(review)
        context["questions"] = read_answers(review)
        context["came_by"] = joined_sentence(review, totals.people)
        context["retired"] = retired_models(review)
        context["reads_opinions"] = access.reads_opinions(request.actor, review)
        context["contrasts"] = read_contrasts(review)
    return render(request, "reviews/results.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: PageRequest, public_id: str) -> HttpResponse:
    review = access.get_review_or_404(request.actor, public_id, to_change=True)
    if review.battle is not None:
        return redirect_to(request, review.settings_url)
    editor = TermsEditor(request.POST if request.method == "POST" else None, review=review)
    if editor.is_sent and editor.is_valid():
        try:
            actions.change_review(review, **editor.terms)
        except ArenaError as refusal:
            _add_refusal(editor.form, refusal)
        else:
            messages.success(request, _("Saved."))
            return redirect_to(request, review.settings_url)
    context = {
        "review": review, "progress": read_progress(review), "left_out": review.left_out_sentences,
        "joining": _joining(request, review) if review.is_joined else None, "contrasts": read_contrasts(review),
    }  # fmt: skip
    return _terms_page(request, "reviews/settings.html", editor, context)


class _Joining(TypedDict):
    """code, address: "" while the link is closed."""

    code: str
    address: str
    people: int
    networks: list[NetworkPeople]


def _joining(request: PageRequest, review: Review) -> _Joining:
    address = request.build_absolute_uri(f"{reverse('reviews:join')}?code={review.code}")
    return {
        "code": shown_code(review.code) if review.code else "", "address": address if review.code else "",
        "people": review.reviewers.count(), "networks": read_networks(review),
    }  # fmt: skip


@login_required
@require_POST
def move(request: PageRequest, public_id: str, move: str) -> HttpResponse:
    """Open, close, withdraw or delete; show a refusal on the page."""
    review = access.get_review_or_404(request.actor, public_id, to_change=True)
    try:
        if move == "delete":
            actions.delete_review(review)
            return redirect_to(request, reverse("reviews:list"))
        if move not in MOVES:
            raise Http404
        MOVES[move](review)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
    return redirect_to(request, review.settings_url)
