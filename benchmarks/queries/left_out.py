from typing import NamedTuple

from benchmarks.models import Entrant, Run, RunItem


class LeftOut(NamedTuple):
    """answers, items: their numbers."""

    entrant: Entrant
    answers: int
    items: int


def read_left_out(run: Run) -> list[LeftOut]:
    """Return the entrants that were left out of a run."""
    entrants = run.entrants.filter(left_out_at__isnull=False).select_related("model", "prompt")
    answered, entries = (RunItem.State.ANSWERED, RunItem.State.SCORED), list[LeftOut]()
    for entrant in entrants.prefetch_related("counts").order_by("position"):
        counts = {count.state: count.n for count in entrant.counts.all()}
        entries.append(LeftOut(entrant, sum(counts.get(state, 0) for state in answered), sum(counts.values())))
    return entries
