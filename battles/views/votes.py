from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from battles.own_votes import VoteFilterForm, own_vote_payload, own_votes_csv
from battles.views.battles import PageRequest

VOTES_PER_PAGE = 50


@require_safe
def votes(request: PageRequest) -> HttpResponse:
    """Answer an invalid filter with 422 and its sentence."""
    form = VoteFilterForm(request.GET, actor=request.actor)
    if not form.is_valid():
        return render(request, "battles/votes.html", {"form": form}, status=422)
    match request.GET.get("format"):
        case "csv":
            return HttpResponse(
                own_votes_csv(form.votes()),
                content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": 'attachment; filename="votes.csv"'},
            )
        case "json":
            return JsonResponse({"votes": [own_vote_payload(vote) for vote in form.votes()]})
    page = Paginator(form.votes(), VOTES_PER_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page_obj": page, "votes": [own_vote_payload(vote) for vote in page]}
    return render(request, "battles/votes.html", context)
