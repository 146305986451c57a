"""Access to decision reports; all others get 404."""

from django.db.models import Q, QuerySet
from django.http import Http404

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.roles import Right, teams_with
from benchmarks.access import mine
from common.errors import NotAllowed
from reviews.models import DecisionReport


def own_reports(actor: Actor) -> QuerySet[DecisionReport]:
    """Return the member's personal reports and those of teams, newest first."""
    return DecisionReport.objects.filter(mine(actor, "owner")).defer("document")


def get_report_or_404(actor: Actor, public_id: str) -> DecisionReport:
    reports = DecisionReport.objects.filter(mine(actor, "owner") | Q(published_at__isnull=False))
    report = reports.select_related("team").filter(public_id=public_id).first()
    if report is None:
        raise Http404
    return report


def get_report_to_change_or_404(actor: Actor, public_id: str) -> DecisionReport:
    """Raises NotAllowed for a member of its team without the right."""
    report = get_report_or_404(actor, public_id)
    if not may_change(actor, report):
        if owns(actor, report):
            raise NotAllowed
        raise Http404
    return report


def owns(actor: Actor, report: DecisionReport) -> bool:
    """Return whether the actor reads names in any case."""
    if report.team_id is not None:
        return report.team_id in teams_with(actor.memberships, Right.SEE)
    return actor.user is not None and report.owner_id == actor.user.pk and not actor.is_limited_from(None)


def may_change(actor: Actor, report: DecisionReport) -> bool:
    """Return whether the actor publishes and deletes it, as runs of a place."""
    if report.team_id is None:
        return owns(actor, report)
    return report.team_id in teams_with(actor.memberships, Right.EDIT)


def shows_names(actor: Actor, report: DecisionReport) -> bool:
    return report.publishes_names or owns(actor, report)


def team_of(actor: Actor, report: DecisionReport) -> Team | None:
    """Return the team that owns it, for its members only."""
    member = actor.memberships.get(report.team_id) if report.team_id is not None else None
    return None if member is None else member.team
