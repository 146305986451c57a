from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts import audit
from accounts.models import User
from benchmarks.errors import WrongState
from benchmarks.models import Entrant, Run, RunCount, RunItem
from benchmarks.models.entrant_calls import let_go_on
from benchmarks.tasks import wake_after_commit

# Reasons that end with the entrants that caused them.
_OF_ENTRANTS = (Run.Reason.REFUSED_KEY, Run.Reason.NO_KEY, Run.Reason.MODELS_AWAY)


@transaction.atomic
def leave_out(run: Run, entrant: Entrant, *, by: User) -> Run:
    """Ask nothing more of an entrant: its answers stay. A run that paused for it alone goes on. Raises WrongState.

    Workers stop its calls within a second; a second time changes nothing.
    """
    run = Run.objects.lock(run.pk)
    entrant = run.entrants.select_related("model").get(pk=entrant.pk)
    if entrant.left_out_at is not None:
        return run
    if run.state not in Run.UNDER_WAY:
        raise WrongState(_("A model can be left out while the run is under way."))
    if entrant.model is None:
        raise WrongState(_("These answers were imported: nothing is asked."))
    Entrant.objects.filter(pk=entrant.pk).update(left_out_at=Now(), next_try_at=None, halted="")
    # Runs that were prepared by an earlier release have no such counter.
    RunCount.objects.bulk_create([RunCount(entrant=entrant, state=RunItem.State.LEFT_OUT)], ignore_conflicts=True)
    queued = RunItem.objects.filter(entrant=entrant, state=RunItem.State.QUEUED)
    unanswered = queued.update(state=RunItem.State.LEFT_OUT, finished_at=Now())
    audit.record(by, "leave out of run", run.public_id, entrant=str(entrant), unanswered=unanswered)
    if run.state == Run.State.PAUSED and _goes_on(run):
        run.state, run.reason, run.day_wait_until, run.driven_until = Run.State.RUNNING, "", None, None
        run.save(update_fields=["state", "reason", "day_wait_until", "driven_until"])
        let_go_on(run.pk)
        wake_after_commit(run)
    return run


def _goes_on(run: Run) -> bool:
    """Return whether a paused run has nothing to ask, or only of entrants that can be asked."""
    items = RunCount.objects.filter(entrant__run=run, state__in=RunItem.TO_ASK, n__gt=0)
    unfinished = Entrant.objects.filter(pk__in=items.values("entrant")).select_related("model")
    if run.reason not in _OF_ENTRANTS:
        return not unfinished.exists()
    return not any(entrant.halted or not entrant.is_active for entrant in unfinished)
