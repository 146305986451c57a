import json
from typing import cast

from django.dispatch import receiver

from accounts.actor import Actor
from accounts.models import User
from accounts.personal_data import personal_data_requested
from reviews.models import DecisionReport
from reviews.reports import access
from reviews.reports.payload_types import Readers, ReportFilePayload, ReportSummaryPayload, Subject


def report_summary(report: DecisionReport, actor: Actor) -> ReportSummaryPayload:
    payload: ReportSummaryPayload = {
        "id": report.public_id,
        "question": report.question,
        "subject": cast(Subject, report.subject),
        "readers": readers_of(report),
        "mine": access.may_change(actor, report),
        "created_at": report.created_at,
    }
    team = access.team_of(actor, report)
    return payload if team is None else {**payload, "team": team.slug}


def readers_of(report: DecisionReport) -> Readers:
    if report.published_at is None:
        return "none"
    return "names" if report.publishes_names else "numbers"


@receiver(personal_data_requested)
def export_reports(user: User, **_: object) -> dict[str, list[ReportFilePayload]]:
    reports = DecisionReport.objects.filter(owner=user, team=None).order_by("pk")
    return {
        "decision_reports": [{"checksum": report.checksum, "report": json.loads(report.document)} for report in reports]
    }
