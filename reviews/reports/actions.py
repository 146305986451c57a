from django.db.models import Q
from django.db.models.functions import Now
from django.dispatch import receiver

from accounts import audit
from accounts.models import Team, User
from accounts.personal_data import account_deleting
from benchmarks.actions import has_team_models
from benchmarks.models import Run, RunReport
from leaderboard.boards.queries import newest_run
from leaderboard.models import AggregationRun
from models_registry.models import TEAM_SEPARATOR
from reviews.models import DecisionReport, Review
from reviews.reports import gathering
from reviews.reports.document import Document, canonical, checksum
from reviews.reports.errors import ModelsOfTeam, NothingToReport


def report_on_run(*, owner: User, run: Run, question: str, number: int | None = None) -> DecisionReport:
    """Store a report on an ended run, in the run's place. number: of its report, None for the newest.

    Raises NothingToReport.
    """
    reports = run.reports.order_by("-number")
    stored: RunReport | None = (reports if number is None else reports.filter(number=number)).first()
    if stored is None or run.state not in Run.ENDED:
        raise NothingToReport
    report = DecisionReport(
        owner=owner, team_id=run.team_id, subject=DecisionReport.Subject.RUN, question=question,
        has_team_models=has_team_models(run),
    )  # fmt: skip
    subject, labels = gathering.run_inputs(run, stored), gathering.labels_of_run(run)
    return _store(report, gathering.document(report.public_id, question, subject, labels))


def report_on_board(*, owner: User, board: str, team: Team | None, question: str) -> DecisionReport:
    """Store a report on a board's newest snapshot, in the board's place. Raises NoSuchBoard and NothingToReport."""
    run = newest_run(board, team)
    if run is None:
        raise NothingToReport
    snapshot = gathering.snapshot_of(run, team)
    subject = gathering.board_inputs(snapshot, "" if team is None else team.slug)
    report = DecisionReport(
        owner=owner, team=team, subject=DecisionReport.Subject.BOARD, question=question,
        has_team_models=team is not None and any(TEAM_SEPARATOR in line.key for line in subject.lines),
    )  # fmt: skip
    return _store(report, gathering.document(report.public_id, question, subject, gathering.labels_of_board(snapshot)))


def report_on_review(*, owner: User, review: Review, question: str) -> DecisionReport:
    """Store a report on a closed review with counted votes, in the review's place. Raises NothingToReport."""
    if review.state != Review.State.CLOSED:
        raise NothingToReport
    run = AggregationRun.objects.of_review(review.public_id).first()
    if run is None:
        raise NothingToReport
    snapshot = gathering.snapshot_of(run, review.team, review.public_id)
    of_teams = Q(first_model__team__isnull=False) | Q(second_model__team__isnull=False)
    report = DecisionReport(
        owner=owner, team_id=review.team_id, subject=DecisionReport.Subject.CAMPAIGN, question=question,
        has_team_models=review.items.filter(of_teams).exists(),
    )  # fmt: skip
    subject, labels = gathering.campaign_inputs(review, snapshot), gathering.labels_of_review(review, snapshot)
    return _store(report, gathering.document(report.public_id, question, subject, labels))


def _store(report: DecisionReport, document: Document) -> DecisionReport:
    report.document = canonical(document)
    report.checksum = checksum(report.document)
    report.save(force_insert=True)
    return report


def publish_report(report: DecisionReport, *, with_names: bool) -> None:
    """Let all read it. Raises ModelsOfTeam for one on a team's own models."""
    if report.has_team_models:
        raise ModelsOfTeam
    DecisionReport.objects.filter(pk=report.pk).update(
        published_at=report.published_at or Now(), publishes_names=with_names
    )


def withdraw_report(report: DecisionReport, *, by: User | None = None) -> None:
    """by: an administrator, for the audit log."""
    DecisionReport.objects.filter(pk=report.pk).update(published_at=None)
    if by is not None:
        audit.record(by, "withdraw decision report", report.public_id)


def delete_report(report: DecisionReport) -> None:
    DecisionReport.objects.filter(pk=report.pk).delete()


@receiver(account_deleting)
def delete_private_reports(user: User, **_: object) -> None:
    """Delete a member's own reports. Published ones stay without an owner, as runs do, and so do those of teams."""
    DecisionReport.objects.filter(owner=user, team=None, published_at=None).delete()


def delete_reports_of_team(team: Team) -> None:
    DecisionReport.objects.filter(team=team).delete()
