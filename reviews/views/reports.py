from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.views.pages import PageRequest, member_of
from common.errors import ArenaError
from leaderboard.boards.queries import newest_run
from reviews.models import DecisionReport
from reviews.reports import access, actions
from reviews.reports.files import CONTENT_TYPES, content_of
from reviews.reports.page import read_report_page
from reviews.reports.sources import Source, find_source

PER_PAGE = 30


class QuestionForm(forms.Form):
    question = forms.CharField(
        label=gettext_lazy("Question"), max_length=DecisionReport.MAX_QUESTION,
        help_text=gettext_lazy(
            "The report’s heading. It is shown as you write it, also where the report is published."
        ),
    )  # fmt: skip


class PublishForm(forms.Form):
    READERS = (
        ("names", gettext_lazy("Everybody, with names")),
        ("numbers", gettext_lazy("Everybody, with numbers in place of names")),
    )

    readers = forms.ChoiceField(
        label=gettext_lazy("Who may read it"),
        widget=forms.RadioSelect,
        choices=[("none", gettext_lazy("You alone")), *READERS],
    )

    def __init__(self, *args: object, is_of_team: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if is_of_team:
            self.fields["readers"].choices = [("none", gettext_lazy("The team alone")), *self.READERS]  # type: ignore[attr-defined]


@login_required
@require_safe
def reports(request: PageRequest) -> HttpResponse:
    listed = access.own_reports(request.actor).select_related("team", "owner")
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "reviews/reports.html", {"page_obj": page})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_report(request: PageRequest) -> HttpResponse:
    if request.method != "POST" and not request.GET.keys() & {"run", "board", "review"}:
        return redirect("reviews:reports")
    source = _source(request)
    form = QuestionForm(request.POST or None, initial={"question": source.question})
    if not form.is_valid():
        context = {"form": form, "source": source}
        return render(request, "reviews/new_report.html", context, status=422 if form.is_bound else 200)
    try:
        report = source.store_report(member_of(request), form.cleaned_data["question"])
    except ArenaError as refusal:
        form.add_error(None, refusal.detail)
        return render(request, "reviews/new_report.html", {"form": form, "source": source}, status=refusal.http_status)
    return redirect("reviews:report", report.public_id)


def _source(request: PageRequest) -> Source:
    """Return what the address, or the form, names; 404 without one."""
    data = request.POST if request.method == "POST" else request.GET
    run, board, review = data.get("run", ""), data.get("board", "").replace("\0", ""), data.get("review", "")
    if not run and not board and not review:
        raise Http404
    source = find_source(request.actor, run=run, board=board, team=data.get("team", ""), review=review)
    if source.board:
        newest_run(source.board, source.place)
    return source


@require_safe
def report(request: PageRequest, public_id: str) -> HttpResponse:
    found = access.get_report_or_404(request.actor, public_id)
    readers = "none" if found.published_at is None else "names" if found.publishes_names else "numbers"
    context = {
        "page": read_report_page(found, request.actor), "report": found,
        "team": access.team_of(request.actor, found), "owns": access.owns(request.actor, found),
        "may_change": access.may_change(request.actor, found),
        "publish_form": PublishForm(is_of_team=found.team_id is not None, initial={"readers": readers}),
    }  # fmt: skip
    return render(request, "reviews/report.html", context)


@require_safe
def report_file(request: PageRequest, public_id: str, ending: str) -> HttpResponse:
    found = access.get_report_or_404(request.actor, public_id)
    if ending not in CONTENT_TYPES:
        raise Http404
    response = HttpResponse(
        content_of(read_report_page(found, request.actor), ending), content_type=CONTENT_TYPES[ending]
    )
    name = f"report-{found.public_id}.{ending}"
    response["Content-Disposition"] = str(content_disposition_header(as_attachment=True, filename=name))
    return response


@login_required
@require_POST
def publish(request: PageRequest, public_id: str) -> HttpResponse:
    found = access.get_report_to_change_or_404(request.actor, public_id)
    form = PublishForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Choose who may read the report."))
    elif form.cleaned_data["readers"] == "none":
        actions.withdraw_report(found)
        messages.success(request, _("The report is private."))
    else:
        try:
            actions.publish_report(found, with_names=form.cleaned_data["readers"] == "names")
        except ArenaError as refusal:
            messages.error(request, refusal.detail)
        else:
            messages.success(request, _("The report is public."))
    return redirect("reviews:report", found.public_id)


@login_required
@require_POST
def delete(request: PageRequest, public_id: str) -> HttpResponse:
    actions.delete_report(access.get_report_to_change_or_404(request.actor, public_id))
    messages.success(request, _("The report is deleted."))
    return redirect("reviews:reports")
