"""Calls of models for turns, the gateway and benchmarks. Other apps import the names below; the modules are private.

A call is planned (PlannedCall), gets a slot, reserved money and a row (PreparedCall), is sent, and its CallResult is
stored with its cost. Functions with queries run in a thread.
"""

from battles.calls.attempt import Attempt
from battles.calls.counters import NANODOLLARS, count_by_model
from battles.calls.outcomes import set_outcome, set_token_counts
from battles.calls.slot_queue import subscribed_slot_queue
from battles.calls.slots import headroom, is_limited, take_slots
from battles.calls.store import (
    bill_for,
    insert_started,
    mark_calls_lost,
    record_failure,
    start_call,
    store_result,
    store_results,
)
from battles.calls.values import CallResult, PlannedCall, PreparedCall, sent_bytes

__all__ = [
    "NANODOLLARS",
    "Attempt",
    "CallResult",
    "PlannedCall",
    "PreparedCall",
    "bill_for",
    "count_by_model",
    "headroom",
    "insert_started",
    "is_limited",
    "mark_calls_lost",
    "record_failure",
    "sent_bytes",
    "set_outcome",
    "set_token_counts",
    "start_call",
    "store_result",
    "store_results",
    "subscribed_slot_queue",
    "take_slots",
]
