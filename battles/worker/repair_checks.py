"""Neutral probes of repairs: one call as registered, whose repeat shows what the provider accepts."""

from django.db import transaction

from battles.calls import store
from battles.calls.attempt import Attempt
from battles.calls.values import CallResult, PreparedCall
from battles.worker import probes
from common.db.execution import run_in_db
from models_registry.health import repairs
from models_registry.models import RequestRepair
from models_registry.providers import ChatProvider, FailureCode


async def check_repair(repair_id: int, provider: ChatProvider) -> None:
    claimed = await run_in_db(_create_call, repair_id)
    if claimed is not None:
        row, call = claimed
        result = await Attempt(call, provider).run()
        await run_in_db(_store, row, call, result)


def _create_call(repair_id: int) -> tuple[RequestRepair, PreparedCall] | None:
    row = repairs.take_check(repair_id)
    if row is None:
        return None
    # A bound on the cap shows only with the model's own cap.
    keeps_cap = " ≤ " in row.repair
    with transaction.atomic():
        call = store.start_call(probes.plan(row.model, is_repaired=False, keeps_cap=keeps_cap), person="")
    if isinstance(call, FailureCode):
        repairs.postpone_check(row)
        return None
    return row, call


@transaction.atomic
def _store(row: RequestRepair, call: PreparedCall, result: CallResult) -> None:
    if store.store_result(call, result):
        is_confirmed = row.repair in result.completion.repaired and probes.reply_error(result) is None
        repairs.record_check(row, is_confirmed=is_confirmed)
