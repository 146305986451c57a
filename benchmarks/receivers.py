from django.dispatch import receiver
from django.utils.translation import gettext as _

from accounts.models import Team
from accounts.teams.actions import team_archiving
from accounts.teams.budgets import team_budgets_changed
from battles.models import Session
from battles.signals import session_deleting
from benchmarks.actions import resume_team_runs
from benchmarks.errors import RunsOpen
from benchmarks.models import LiveDraw, LiveJudgement, Run
from uploads.errors import UploadInUse
from uploads.models import Upload
from uploads.signals import upload_deleted

# Open runs that a refusal names.
NAMED_RUNS = 3


@receiver(upload_deleted)
def refuse_while_run_is_live(upload: Upload, **_: object) -> None:
    """Raise UploadInUse while a run of a case with the upload is live: later calls would receive other content."""
    if Run.objects.live().filter(version__cases__files__upload=upload).exists():
        raise UploadInUse


@receiver(team_archiving)
def refuse_while_runs_are_open(team: Team, **kwargs: object) -> None:
    """Raise RunsOpen with the names of the first."""
    runs = list(
        Run.objects.live().filter(team=team).select_related("version__template").order_by("pk")[: NAMED_RUNS + 1]
    )
    if runs:
        names = [f"“{run.name or run.version.template.name}”" for run in runs[:NAMED_RUNS]]
        shown = ", ".join([*names, *("…" for _run in runs[NAMED_RUNS:])])
        raise RunsOpen(
            _("Runs of the team are open: %(runs)s. Cancel them first, or wait until they end.") % {"runs": shown}
        )


@receiver(team_budgets_changed)
def let_waiting_runs_go_on(team: Team, **kwargs: object) -> None:
    resume_team_runs(team)


@receiver(session_deleting)
def delete_judgements_of_battles(session: Session, **kwargs: object) -> None:
    """Delete what judges wrote about the session's battles; the draws stay."""
    draws = LiveDraw.objects.filter(battle__session=session)
    LiveJudgement.objects.filter(draw__in=draws).delete()
    draws.filter(left_out="").update(left_out=LiveDraw.LeftOut.DELETED)
