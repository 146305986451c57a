"""Probes: tiny real requests that check whether a model with an open breaker answers again."""

from django.db import transaction

from battles.models import Call
from battles.worker import asking, call_store
from battles.worker.calls import CallResult, PlannedCall, PreparedCall
from common.db.execution import run_in_db
from models_registry.health import outcomes
from models_registry.providers import ChatProvider, FailureCode

MESSAGES = [{"role": "user", "content": "Reply with OK."}]
MAX_TOKENS = 16


async def probe(breaker_id: int, provider: ChatProvider) -> None:
    """Send a due probe: an answer closes the breaker, a failure prolongs it."""
    call = await run_in_db(_create_call, breaker_id)
    if call is None:
        return
    result = await asking.ask(call, provider)
    await run_in_db(_store_outcome, breaker_id, call, result)


def _create_call(breaker_id: int) -> PreparedCall | None:
    model = outcomes.take_probe(breaker_id)
    if model is None:
        return None
    plan = PlannedCall(
        model, MESSAGES, purpose=Call.Purpose.PROBE, max_tokens=MAX_TOKENS, lease=outcomes.PROBE_LEASE, hides_model=True
    )
    with transaction.atomic():
        call = call_store.start_call(plan, person="")
    if isinstance(call, FailureCode):
        outcomes.postpone_probe(breaker_id)
        return None
    return call


@transaction.atomic
def _store_outcome(breaker_id: int, call: PreparedCall, result: CallResult) -> None:
    if call_store.store_result(call, result):
        outcomes.record_probe(breaker_id, result.error, retry_after=result.retry_after)
