from django.db import transaction
from django.db.models.functions import Now

from benchmarks.errors import ModelsOfTeam, WrongState
from benchmarks.models import Run


@transaction.atomic
def publish_run(run: Run, *, with_names: bool = True, number: int | None = None) -> Run:
    """Let all read a run; without names, its report alone. number: of the report; None for always the newest.

    Raises WrongState before there is such a report, ModelsOfTeam for a run that has asked a team's own.
    """
    run = Run.objects.lock(run.pk)
    reports = run.reports.all() if number is None else run.reports.filter(number=number)
    if not reports.exists():
        raise WrongState
    if has_team_models(run):
        raise ModelsOfTeam
    run.published_at, run.publishes_names, run.published_number = run.published_at or Now(), with_names, number
    run.save(update_fields=["published_at", "publishes_names", "published_number"])
    run.refresh_from_db(fields=["published_at"])
    return run


def has_team_models(run: Run) -> bool:
    return run.team_id is not None and run.entrants.filter(model__team__isnull=False).exists()


def withdraw_run(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(published_at=None)
