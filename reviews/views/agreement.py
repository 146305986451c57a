"""Agreement of people, judges and checks about a review."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks.access import get_judged_answers_or_404
from benchmarks.judges.results import judges_of, read_cards, read_judge_card
from benchmarks.statistics.agreement import OUTCOMES
from benchmarks.views.pages import PageRequest, redirect_to
from common.tables.writers import WRITERS
from reviews import access
from reviews.agreement.disagreements import PER_PAGE, find_disagreements, read_disagreements
from reviews.agreement.payloads import review_agreement_payload
from reviews.agreement.results import read_agreement
from reviews.exports import opinions_response


@require_safe
def agreement(request: PageRequest, public_id: str) -> HttpResponse:
    review = access.get_review_or_404(request.actor, public_id)
    if review.is_graded or review.battle_id is not None:
        return redirect_to(request, reverse("reviews:results", args=[review.public_id]))
    reads_answers = review.run is not None and access.reads_opinions(request.actor, review)
    context: dict[str, object] = {"review": review, "reads_answers": reads_answers}
    if access.shows_results(request.actor, review):
        figures = read_agreement(review)
        payload = review_agreement_payload(review, figures)
        names = {each.judge.public_id: each.judge for each in figures.judges}
        cards = read_cards(list(names.values()))
        context |= {
            "figures": payload,
            "judges": [
                (one, numbers, cards[one.judge.pk])
                for one, numbers in zip(figures.judges, payload["judges"], strict=True)
            ],
            "between": [
                (names[row["first"]], names[row["second"]], row["agreement"]) for row in payload["between_judges"]
            ],
        }
    return render(request, "reviews/agreement.html", context)


@require_safe
def export(request: PageRequest, public_id: str, ending: str) -> StreamingHttpResponse:
    review = access.get_review_or_404(request.actor, public_id)
    if ending not in WRITERS or not access.reads_opinions(request.actor, review):
        raise Http404
    return opinions_response(review, ending, actor=request.actor)


@require_safe
def disagreements(request: PageRequest, public_id: str, judge_id: str) -> HttpResponse:
    """Show pairs on which the judge and people differ; `judged` and `said` limit them to a cell of the confusions."""
    review = access.get_review_or_404(request.actor, public_id)
    if not access.shows_results(request.actor, review) or review.run is None:
        raise Http404
    run = get_judged_answers_or_404(request.actor, review.run.public_id)
    judge = next((judge for judge in judges_of(run) if judge.public_id == judge_id), None)
    if judge is None:
        raise Http404
    category, opinion = (_category(request, name) for name in ("judged", "said"))
    found = find_disagreements(review, judge, category=category, opinion=opinion)
    if found is None:
        raise Http404
    page = Paginator(found.rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "review": review, "judge": judge, "card": read_judge_card(judge), "page_obj": page,
        "is_limited": category is not None or opinion is not None,
        "pairs": read_disagreements(found.answers, judge, list(page)),
    }  # fmt: skip
    return render(request, "reviews/disagreements.html", context)


def _category(request: PageRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text in map(str, range(OUTCOMES)) else None
