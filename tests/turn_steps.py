"""Single steps of answering a turn, which a worker takes for several turns at once."""

from battles.calls.values import CallResult, PreparedCall
from battles.models import Answer, Turn
from battles.worker import turn_store
from battles.worker.turn_store import ClaimedTurn, EndedSide, LeaseLost


def claim_turn(turn_id: int) -> ClaimedTurn | None:
    """Claim a queued turn without its calls; None if it is not claimable."""
    if not Turn.objects.claim([turn_id], lease=turn_store.LEASE, max_attempts=turn_store.MAX_ATTEMPTS):
        return None
    return turn_store._claimed_turn(Turn.objects.select_related("battle").get(pk=turn_id))


def store_answer(
    claimed: ClaimedTurn, call: PreparedCall, result: CallResult, *, closes_turn: bool = True
) -> Answer.State:
    [state] = turn_store.store_answers([EndedSide(claimed, call, result, closes_turn)])
    if state is None:
        raise LeaseLost
    return state
