"""Money of a team for its page, file and API: docs/adr/0085."""

import csv
import io
import re
from datetime import date, timedelta
from decimal import Decimal
from typing import TypedDict

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Count, DateTimeField, DurationField, ExpressionWrapper, F, Q, Sum, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import override

from accounts.models import Role, Team, TeamMember, User
from accounts.teams.roles import Right, has_right
from battles.models import Battle, Call
from common.payload_types import Moment
from common.tables.cells import escape_formula
from common.text.money import dollars
from metrics.rollup.families import Reveal
from models_registry.models import SpendingDay
from models_registry.models.ledger import (
    Account,
    next_month,
    start_of_month,
    team_account,
    this_month,
    today,
)
from models_registry.payers import Quota, quotas_of, spent_payload
from models_registry.payload_types import SpentPayload

# Share of a month's budget at which owners are told.
TOLD_AT = Decimal("0.8")
_MEMBER = re.compile(r"team:\d+/user:(\d+)(/requests)?")


class QuotaPayload(SpentPayload):
    """A member's own quota of a month. `requests` count while `max_requests` is set."""

    requests: int | None
    max_requests: int | None


class MemberSpendingPayload(QuotaPayload):
    """`email`: null for a person who left or whose account is deleted."""

    email: str | None


class ModelSpendingPayload(TypedDict):
    """Calls whose model is known, until `models_until`. `cost`: US dollars."""

    model: str
    name: str
    calls: int
    cost: str


class TeamSpendingPayload(TypedDict):
    """`month`: of `own`, `whole`, `members` and `models`. A member without the right to manage sees `own` only; the
    others are null then. `today` is null for earlier months."""

    month: str
    own: QuotaPayload
    today: SpentPayload | None
    whole: SpentPayload | None
    members: list[MemberSpendingPayload] | None
    models: list[ModelSpendingPayload] | None
    models_until: Moment | None


def read_month(text: str | None) -> date:
    """Return the first day of `2026-11`, and of this month for other texts."""
    match, current = re.fullmatch(r"(20\d\d)-(0[1-9]|1[0-2])", text or ""), this_month()
    return min(date(int(match[1]), int(match[2]), 1), current) if match else current


def spending_payload(member: TeamMember, month: date) -> TeamSpendingPayload:
    team, person = member.team, f"user:{member.user_id}"
    payload: TeamSpendingPayload = {
        "month": f"{month:%Y-%m}",
        "own": _quota(quotas_of(person, [team], month)[0]),
        "today": None, "whole": None, "members": None, "models": None, "models_until": None,
    }  # fmt: skip
    if not has_right(member.role, Right.MANAGE):
        return payload
    reveal = Reveal.now()
    payload["today"], payload["whole"] = team_totals(team, month)
    payload["members"], payload["models"] = _members(team, month), _models(team, month, reveal)
    payload["models_until"] = reveal.until
    return payload


def team_totals(team: Team, month: date) -> tuple[SpentPayload | None, SpentPayload]:
    """Return the sums of today, None in earlier months, and of the month."""
    of_day, of_month = Account(team_account(team.pk), today()), Account(f"{team_account(team.pk)}/month", month)
    used = SpendingDay.objects.used([of_day, of_month])
    is_now = month == this_month()
    return spent_payload(used[of_day], team.day_budget) if is_now else None, spent_payload(
        used[of_month], team.month_budget
    )


def _quota(quota: Quota) -> QuotaPayload:
    requests = None if quota.max_requests is None else quota.requests
    return {**quota.as_spent, "requests": requests, "max_requests": quota.max_requests}


def _members(team: Team, month: date) -> list[MemberSpendingPayload]:
    """Return members and former ones by descending money."""
    money: dict[int, Decimal] = {}
    requests: dict[int, int] = {}
    rows = SpendingDay.objects.filter(day=month, account__startswith=f"{team_account(team.pk)}/user:")
    for name, used in rows.values_list("account", F("reserved") + F("spent")):
        if match := _MEMBER.fullmatch(name):
            if match[2]:
                requests[int(match[1])] = int(used)
            else:
                money[int(match[1])] = used
    may_use = [role for role in Role if has_right(role, Right.USE)]
    emails = dict(team.members.filter(role__in=may_use).values_list("user_id", "user__email"))
    ids = sorted({*emails, *money, *requests}, key=lambda pk: (-money.get(pk, 0), emails.get(pk, ""), pk))
    return [
        {
            **_quota(Quota(team, money.get(pk, Decimal(0)), requests.get(pk, 0))),
            "email": emails.get(pk),
        }
        for pk in ids
    ]


def _models(team: Team, month: date, reveal: Reveal) -> list[ModelSpendingPayload]:
    took = ExpressionWrapper(
        Coalesce(F("total_ms"), 0) * Value(timedelta(milliseconds=1)), output_field=DurationField()
    )
    ended_at = ExpressionWrapper(F("started_at") + took, output_field=DateTimeField())
    battle = "answer__turn__battle__"
    is_known = (
        Q(answer=None)
        | ~Q(**{f"{battle}mode__in": Battle.BLIND_MODES})
        | Q(**{f"{battle}vote__order__lte": reveal.last_order})
        | Q(**{f"{battle}voided_at__lt": reveal.moment})
    )
    of_month = Call.objects.filter(
        charge__team=team, charge__cost__isnull=False, charge__created_at__gte=start_of_month(month),
        charge__created_at__lt=start_of_month(next_month(month)),
    )  # fmt: skip
    # Probes would tell which models fail.
    calls = of_month.exclude(purpose=Call.Purpose.PROBE).annotate(ended_at=ended_at)
    by_model = calls.filter(is_known, ended_at__lt=reveal.until).order_by().values("model__slug", "model__name")
    totals = by_model.annotate(calls=Count("pk"), spent=Sum("charge__cost")).order_by("-spent", "model__slug")
    return [
        {
            "model": line["model__slug"], "name": line["model__name"], "calls": line["calls"],
            "cost": f"{line['spent']:.2f}",
        }
        for line in totals
    ]  # fmt: skip


def as_csv(payload: TeamSpendingPayload) -> str:
    """Return a line for each sum."""
    lines: list[list[object]] = [["month", "of", "name", "us_dollars", "budget", "count", "max_count"]]

    def add(of: str, name: str, cost: str, *numbers: object) -> None:
        lines.append([payload["month"], of, escape_formula(name), cost, *numbers])

    own = payload["own"]
    if payload["members"] is None:
        add("own quota", "", own["spent"], own["budget"], own["requests"], own["max_requests"])
    for of, sums in (("team's day", payload["today"]), ("team's month", payload["whole"])):
        if sums is not None:
            add(of, "", sums["spent"], sums["budget"], None, None)
    for each in payload["members"] or ():
        add("member", each["email"] or "", each["spent"], each["budget"], each["requests"], each["max_requests"])
    for model in payload["models"] or ():
        add("model", model["model"], model["cost"], None, model["calls"], None)
    text = io.StringIO()
    csv.writer(text).writerows(lines)
    return text.getvalue()


def tell_owners() -> None:
    """Write to owners at 80 % of a month's budget, once a month."""
    month = this_month()
    teams = {
        Account(f"{team_account(team.pk)}/month", month): team
        for team in Team.objects.active().filter(month_budget__gt=0).exclude(told_month=month)
    }
    used = SpendingDay.objects.used(teams) if teams else {}
    for account, team in teams.items():
        if team.month_budget is not None and used[account] >= TOLD_AT * team.month_budget:
            _tell_owners(team, used[account], month)


@transaction.atomic
def _tell_owners(team: Team, used: Decimal, month: date) -> None:
    if not Team.objects.filter(pk=team.pk).exclude(told_month=month).update(told_month=month):
        return  # another worker does
    facts = {
        "team": team.name, "spent": dollars(f"{used:.2f}"), "budget": dollars(f"{team.month_budget:.2f}"),
        "page": reverse("team_spending", args=[team.slug]),
    }  # fmt: skip
    for owner in User.objects.filter(is_active=True, team_members__team=team, team_members__role=Role.OWNER):
        with override(settings.LANGUAGE_CODE):
            subject = _("%(team)s has used 80 %% of its budget for this month") % facts
            body = _(
                "%(team)s has spent %(spent)s of the %(budget)s that it may spend this month. When all is spent, "
                "models that cost money do not answer its members until the month ends or the budget is raised.\n\n"
                "Who spent what, and the budget, are at %(page)s in the arena."
            )
            send_mail(subject, body % facts, None, [owner.email])
