from collections.abc import Callable
from contextlib import suppress
from typing import cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from accounts.errors import NeedsAdministrator
from accounts.models import User
from battles.admin.evidence import VoteAdmin
from battles.models import Vote, VoteQuerySet
from common.admin.estimated_count import EstimatedCountAdmin
from common.admin.of_site import OfSiteForModerators
from common.admin.read_only import ReadOnlyAdmin
from leaderboard import actions
from leaderboard.boards.evidence import evidence_text
from leaderboard.counting import reviews
from leaderboard.errors import ReviewIsDecided
from leaderboard.models import AnomalyReview, VoteChange

# Permission to exclude votes and count them again, because each change adds to the history of votes.
MAY_JUDGE = "leaderboard.add_votechange"
MAX_VOTERS_SHOWN = 50


class BecauseForm(forms.Form):
    because = forms.CharField(
        label=gettext_lazy("Why"), max_length=500, widget=forms.TextInput(attrs={"size": 80, "autofocus": True})
    )


class ExcludeForm(BecauseForm):
    # ANOMALY is absent: only a review excludes with that reason, and reverses it.
    REASONS = [Vote.ExcludedReason.MODERATION, Vote.ExcludedReason.OPERATOR, Vote.ExcludedReason.IDENTITY_LEAK]
    reason = forms.ChoiceField(
        label=gettext_lazy("Reason on the board"), choices=[(reason.value, reason.label) for reason in REASONS]
    )


class DecisionForm(BecauseForm):
    state = forms.ChoiceField(
        choices=[(state.value, state.label) for state in (AnomalyReview.State.DISMISSED, AnomalyReview.State.EXCLUDED)]
    )


admin.site.unregister(Vote)


@admin.register(Vote)
class JudgedVoteAdmin(OfSiteForModerators, VoteAdmin):
    of_site = Q(on_site_boards=True)
    actions = ["exclude_votes", "restore_votes"]

    def has_judge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(MAY_JUDGE)

    @admin.action(description=gettext_lazy("Exclude from the boards …"), permissions=["judge"])
    def exclude_votes(self, request: HttpRequest, queryset: VoteQuerySet) -> HttpResponse | None:
        return self._confirm_and_apply(request, queryset, ExcludeForm, actions.retract_votes)

    @admin.action(description=gettext_lazy("Count again …"), permissions=["judge"])
    def restore_votes(self, request: HttpRequest, queryset: VoteQuerySet) -> HttpResponse | None:
        return self._confirm_and_apply(request, queryset, BecauseForm, actions.restore_votes)

    def _confirm_and_apply(
        self,
        request: HttpRequest,
        votes: VoteQuerySet,
        form_class: type[BecauseForm],
        action: Callable[..., list[Vote]],
    ) -> HttpResponse | None:
        """Ask for the reason, or apply the action and return None: back to the list."""
        form = form_class(request.POST if "because" in request.POST else None)
        if form.is_valid():
            try:
                changed = action(Vote.objects.filter(pk__in=votes.values("pk")), by=request.user, **form.cleaned_data)
            except NeedsAdministrator as refusal:
                messages.error(request, refusal.detail)
                return None
            sentence = ngettext("%(n)d vote is changed.", "%(n)d votes are changed.", len(changed))
            messages.success(request, sentence % {"n": len(changed)} + " " + _("The next run publishes it."))
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Whether votes count"),
            "opts": self.opts,
            "form": form,
            "number": votes.count(),
            "action": request.POST["action"],
            "chosen": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
            "select_across": request.POST.get("select_across", "0"),
        }
        return TemplateResponse(request, "admin/leaderboard/judge_votes.html", context)


@admin.register(VoteChange)
class VoteChangeAdmin(OfSiteForModerators, EstimatedCountAdmin, ReadOnlyAdmin):
    of_site = Q(vote__on_site_boards=True)
    list_display = ["number", "vote", "kind", "reason", "by", "at"]
    list_select_related = ["vote", "by"]
    list_filter = ["kind"]
    search_fields = ["number", "vote__battle__public_id", "vote__voter"]
    search_help_text = gettext_lazy("The number of a change, the address of a battle, or a voter.")


@admin.register(AnomalyReview)
class AnomalyReviewAdmin(ReadOnlyAdmin):
    list_display = ["opened_at", "state", "subject", "evidence_text", "vote_count", "over_cap", "decided_by", "reason"]
    list_select_related = ["decided_by"]
    list_filter = ["state", "group", "over_cap"]
    search_fields = ["voter", "member_key", "reason"]
    ordering = ["decided_at", "-pk"]
    change_list_template = "admin/leaderboard/anomalyreview/change_list.html"
    change_form_template = "admin/leaderboard/anomalyreview/change_form.html"
    fields = [
        "voter", "group", "first_day", "member_key", "model", "state", "evidence_text", "vote_count", "over_cap",
        "crossed", "opened_at", "decided_at", "decided_by", "reason",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[AnomalyReview]:
        return super().get_queryset(request).filter(team=None)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("look/", view(require_POST(self.look_for_anomalies)), name="leaderboard_look_for_anomalies"),
            path("<int:pk>/decide/", view(require_POST(self.decide_review)), name="leaderboard_decide_review"),
            *super().get_urls(),
        ]

    @admin.display(description=gettext_lazy("voter or group"))
    def subject(self, review: AnomalyReview) -> str:
        if not review.group:
            return review.voter
        parts = [review.get_group_display(), str(review.first_day), review.member_key]
        return " · ".join(filter(None, parts))

    @admin.display(description=gettext_lazy("what stands out"))
    def evidence_text(self, review: AnomalyReview) -> str:
        return evidence_text(review)

    @admin.display(description=gettext_lazy("its votes"))
    def vote_count(self, review: AnomalyReview) -> int:
        return len(review.orders)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        extra: dict[str, object] = {"decision": DecisionForm(), "may_judge": request.user.has_perm(MAY_JUDGE)}
        review = AnomalyReview.objects.filter(pk=object_id, team=None).first() if object_id.isdecimal() else None
        if review and review.group:
            voters = review.votes.values_list("voter").annotate(votes=Count("pk")).order_by("-votes", "voter")
            extra |= {"voters": voters[:MAX_VOTERS_SHOWN], "voter_count": voters.count()}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **extra})

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        may_judge = request.user.has_perm(MAY_JUDGE)
        extra = {
            "may_judge": may_judge,
            "held_percent": reviews.held_percent_of_overall(),
            "waiting_over_cap": AnomalyReview.objects.filter(
                team=None, state=AnomalyReview.State.OPEN, over_cap=True
            ).count(),
            "held_in_teams": AnomalyReview.objects.held_in_teams(),
        }
        return super().changelist_view(request, {**(extra_context or {}), **extra})

    def look_for_anomalies(self, request: HttpRequest) -> HttpResponse:
        actions.request_anomaly_check(by=_require_judge(request))
        messages.success(request, _("Checking all voters for anomalies. Reload in a moment."))
        return redirect("admin:leaderboard_anomalyreview_changelist")

    def decide_review(self, request: HttpRequest, pk: int) -> HttpResponse:
        by, form = _require_judge(request), DecisionForm(request.POST)
        review = get_object_or_404(AnomalyReview, pk=pk, team=None)
        if form.is_valid():
            try:
                with suppress(ReviewIsDecided):  # a double click
                    actions.decide_review(review, by=by, **form.cleaned_data)
                messages.success(request, _("Decided. The next run publishes it."))
            except NeedsAdministrator as refusal:
                messages.error(request, refusal.detail)
        else:
            messages.error(request, _("Give a reason, so that other moderators can follow the decision."))
        return redirect("admin:leaderboard_anomalyreview_change", pk)


def _require_judge(request: HttpRequest) -> User:
    """Return the user. Raises PermissionDenied without MAY_JUDGE."""
    if not request.user.has_perm(MAY_JUDGE):
        raise PermissionDenied
    return cast(User, request.user)
