from decimal import Decimal
from typing import cast

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import ActorRequest
from accounts.models import Team, TeamMember, User
from accounts.models.teams import MAX_BUDGET, MAX_REQUESTS
from accounts.teams.budgets import Budgets, change_budgets
from accounts.teams.places import find_member
from accounts.teams.roles import Right
from accounts.teams.views import team_context
from arena_site.teams.spending import TeamSpendingPayload, as_csv, read_month, spending_payload
from common.api.serializers import validated_data
from common.api_responses import PayloadResponse
from models_registry.models.ledger import next_month, start_of_month, this_month

BUDGETS = ["day_budget", "month_budget", "member_month_budget", "member_month_requests"]


class BudgetsForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = BUDGETS
        labels = {
            "day_budget": gettext_lazy("The team, US dollars a day"),
            "month_budget": gettext_lazy("The team, US dollars a month"),
            "member_month_budget": gettext_lazy("Each member, US dollars a month"),
            "member_month_requests": gettext_lazy("Each member, requests a month"),
        }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def spending(request: HttpRequest, slug: str) -> HttpResponse:
    actor = cast(ActorRequest, request).actor
    member = find_member(actor, slug, Right.MANAGE if request.method == "POST" else Right.SEE)
    form = BudgetsForm(request.POST or None, instance=Team.objects.get(pk=member.team_id))
    if form.is_valid():
        change_budgets(by=cast(User, actor.user), team=member.team, budgets=cast(Budgets, form.cleaned_data))
        messages.success(request, _("The budgets are saved. They apply to the next request."))
        return redirect("team_spending", slug)
    month = read_month(request.GET.get("month"))
    payload = spending_payload(member, month)
    if request.GET.get("as") == "csv":
        name = f"{member.team.slug}-{payload['month']}.csv"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(as_csv(payload), content_type="text/csv; charset=utf-8", headers=headers)
    return render(
        request, "teams/spending.html", _context(member, payload) | {"form": form}, status=422 if form.is_bound else 200
    )


def _context(member: TeamMember, payload: TeamSpendingPayload) -> dict[str, object]:
    month = read_month(payload["month"])
    earliest = member.team.created_at.astimezone(start_of_month(month).tzinfo).date().replace(day=1)
    earlier, later = read_month(f"{month.year - (month.month == 1)}-{(month.month - 2) % 12 + 1:02}"), next_month(month)
    return {
        **team_context(member),
        "spending": payload,
        "month": month,
        "earlier": f"{earlier:%Y-%m}" if earlier >= earliest else "",
        "later": f"{later:%Y-%m}" if later <= this_month() else "",
    }


def _dollars() -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=9, decimal_places=2, min_value=Decimal(0), max_value=Decimal(MAX_BUDGET), allow_null=True,
        required=False,
    )  # fmt: skip


class BudgetsSerializer(serializers.Serializer[None]):
    day_budget = _dollars()
    month_budget = _dollars()
    member_month_budget = _dollars()
    member_month_requests = serializers.IntegerField(
        min_value=0, max_value=MAX_REQUESTS, allow_null=True, required=False
    )


class TeamSpending(APIView):
    in_browser = ("PATCH",)

    def get(self, request: Request, slug: str) -> PayloadResponse[TeamSpendingPayload]:
        member = find_member(cast(ActorRequest, request._request).actor, slug, Right.SEE)
        return PayloadResponse(spending_payload(member, read_month(request.query_params.get("month"))))

    def patch(self, request: Request, slug: str) -> PayloadResponse[TeamSpendingPayload]:
        member = find_member(cast(ActorRequest, request._request).actor, slug, Right.MANAGE)
        data = validated_data(BudgetsSerializer, request.data)
        change_budgets(by=cast(User, request.user), team=member.team, budgets=cast(Budgets, data))
        member.team.refresh_from_db()
        return PayloadResponse(spending_payload(member, this_month()))
