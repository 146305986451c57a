"""Claims of items: slots, money and calls of a batch in one transaction.

Order of locks: run; items by id; providers by id; calls; charges by id; spending days by account; paces. A transaction
begins with the run, so those of one run do not meet each other.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import compress

import msgspec
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from battles.calls import PlannedCall, PreparedCall, insert_started, take_slots
from battles.models import Call
from battles.prompting.messages import with_system_prompt
from benchmarks.models import Entrant, ItemReply, Run, RunItem
from benchmarks.models.entrant_calls import calls_at_once
from benchmarks.preparation import case_files
from benchmarks.sql import read_sql
from benchmarks.worker import reuse
from models_registry import spending
from models_registry.models import Charge, LanguageModel
from models_registry.models.ledger import are_paid_calls_halted, member_account, team_account
from models_registry.payers import Payer
from models_registry.providers.base import Message
from models_registry.providers.kinds import CAPS
from uploads.models import Upload

logger = logging.getLogger(__name__)

MAX_BATCH = 16


@dataclass(frozen=True)
class ClaimedItem:
    """An item that this process answers, with its call. attempt, fence: since the claim."""

    item_id: int
    entrant: Entrant
    case_id: int
    turn: int
    last_turn: int
    attempt: int
    fence: int
    preempted: int
    answer_key: str
    call: PreparedCall
    # Ids of uploads, whose pictures the call still needs.
    pictures: tuple[int, ...] = ()

    @property
    def reserved(self) -> Decimal:
        """Return the reserved US dollars."""
        charge = self.call.row.charge
        return charge.most if charge is not None else Decimal(0)


@dataclass(frozen=True)
class _DueItem:
    item_id: int
    entrant_id: int
    case_id: int
    turn: int
    attempt: int
    fence: int
    preempted: int
    repeat: int
    messages: list[Message]
    turns: list[str]


# Due items and their calls, by item id.
_Planned = dict[int, tuple[_DueItem, PlannedCall]]


@dataclass(frozen=True)
class Claim:
    """The result of one attempt to claim.

    reused: items that got the answers of earlier calls. is_short: there was less work, or less room, than asked for.
    """

    items: list[ClaimedItem]
    reused: tuple[int, ...] = ()
    is_short: bool = False
    pause_reason: str = ""


NOTHING = Claim([], is_short=True)


@transaction.atomic
def claim_items(
    run_id: int, entrants: Mapping[int, Entrant], *, wanted: Mapping[int, int], paces: Mapping[int, int]
) -> Claim:
    """Claim up to MAX_BATCH due items of a running run, whose calls have slots, money and rows afterwards.

    entrants: that may be asked now, by id, with models, providers and prices. wanted: items by provider id. paces:
    calls of all runs at once by provider id.
    """
    run = Run.objects.lock(run_id)
    if run.state != Run.State.RUNNING:
        return NOTHING
    answering = _answering(run_id)
    free = run.concurrency - answering.total()
    due = _lock_due_items(_allowed(entrants, answering), entrants, wanted, min(free, MAX_BATCH)) if free > 0 else []
    if not due:
        return NOTHING
    uploads = case_files.load_uploads([item.messages for item in due])
    planned = {item.item_id: (item, _plan(run, entrants[item.entrant_id], item, uploads)) for item in due}
    _add_earlier_turns(planned)
    keys = {pk: reuse.answer_key(plan, item.repeat) for pk, (item, plan) in planned.items()}
    planned, reused = _reuse(run, planned, keys)
    may_start = take_slots([plan.model for _, plan in planned.values()], background=True, paces=paces)
    planned = dict(compress(planned.items(), may_start))
    planned, charges, reason = _reserve(run, planned)
    items = _insert(planned, charges, entrants, keys, uploads)
    is_short = len(items) + len(reused) < min(free, MAX_BATCH)
    return Claim(items, reused, is_short=is_short, pause_reason=reason)


def _model_of(entrant: Entrant) -> LanguageModel:
    if entrant.model is None:
        raise TypeError("an imported entrant is not asked")
    return entrant.model


def _answering(run_id: int) -> Counter[int]:
    items = RunItem.objects.filter(run=run_id, state=RunItem.State.ANSWERING).order_by()
    return Counter(items.values_list("entrant", flat=True))


def _allowed(entrants: Mapping[int, Entrant], answering: Counter[int]) -> dict[int, int]:
    """Return how many more calls may start, by entrant id."""
    now = timezone.now()
    return {
        entrant.pk: calls_at_once(entrant, now) - answering[entrant.pk]
        for entrant in Entrant.objects.filter(pk__in=entrants)
    }


def _lock_due_items(
    allowed: Mapping[int, int], entrants: Mapping[int, Entrant], wanted: Mapping[int, int], total: int
) -> list[_DueItem]:
    limits = [
        {"entrant_id": pk, "maximum": maximum}
        for pk, entrant in entrants.items()
        if (maximum := min(total, wanted.get(_model_of(entrant).provider_id, 0), allowed.get(pk, 0))) > 0
    ]
    if not limits:
        return []
    with connection.cursor() as cursor:
        cursor.execute(read_sql("select_items.sql"), {"entrants": msgspec.json.encode(limits).decode(), "total": total})
        rows = [_DueItem(*row[:8], *map(msgspec.json.decode, row[8:])) for row in cursor.fetchall()]
    remaining = Counter(wanted)
    chosen = []
    for row in rows:
        provider_id = _model_of(entrants[row.entrant_id]).provider_id
        if remaining[provider_id] > 0:
            remaining[provider_id] -= 1
            chosen.append(row)
    return chosen


def _plan(run: Run, entrant: Entrant, item: _DueItem, uploads: Mapping[int, Upload]) -> PlannedCall:
    model = _model_of(entrant)
    messages = with_system_prompt(model, case_files.with_files(item.messages, uploads))
    purpose = Call.Purpose.JUDGE if run.is_judging else Call.Purpose.ITEM
    # Breakers count a run as one conversation, so that its owner alone cannot close a model.
    return PlannedCall(
        model, messages, purpose=purpose, lease=RunItem.LEASE, overrides=entrant.parameters,
        asker=run.person, conversation=f"run:{run.pk}", team_id=run.team_id,
    )  # fmt: skip


def _add_earlier_turns(planned: _Planned) -> None:
    """Append the entrant's own answers and the follow-ups that were asked before, and the next one."""
    later = {pk: pair for pk, pair in planned.items() if pair[0].turn > 0}
    if not later:
        return
    stored = ItemReply.objects.filter(item__in=later).select_related("reply").order_by("item", "turn")
    for item_reply in stored:
        item, plan = later[item_reply.item_id]
        plan.messages.append({"role": "assistant", "content": item_reply.reply.text})
        plan.messages.append({"role": "user", "content": item.turns[item_reply.turn]})


def _reuse(run: Run, planned: _Planned, keys: Mapping[int, str]) -> tuple[_Planned, tuple[int, ...]]:
    """Give items the answers of earlier equal calls. Returns the other items, and the ids of these."""
    replies = reuse.find_replies(run, set(keys.values()))
    reused = {pk: item for pk, (item, _) in planned.items() if keys[pk] in replies}
    if reused:
        reuse.give_replies([(pk, replies[keys[pk]], item.turn >= len(item.turns)) for pk, item in reused.items()])
    return {pk: pair for pk, pair in planned.items() if pk not in reused}, tuple(reused)


def _reserve(run: Run, planned: _Planned) -> tuple[_Planned, dict[int, Charge], str]:
    """Reserve money and requests. Returns items that may start, charges by item id, and why the run must pause."""
    bills = {
        pk: spending.bill(
            plan.model, plan.messages, person=run.person, team_id=run.team_id, max_tokens=_cap(plan)
        )
        for pk, (_, plan) in planned.items()
    }  # fmt: skip
    request = Payer(run.person, run.team).request() if run.team is not None and run.person else {}
    if not request and not any(bills.values()):
        return planned, {}, ""
    reason, remaining = "", None if run.budget is None else run.budget - run.reserved - run.spent
    affordable: dict[int, Charge | None] = {}
    for pk, bill in bills.items():
        most = Decimal(0) if bill is None else bill.most
        if remaining is not None and most > remaining:
            reason = Run.Reason.BUDGET
            continue
        remaining = None if remaining is None else remaining - most
        affordable[pk] = bill
    reserved, refusing = spending.reserve_affordable(affordable, share=request)
    charges = {pk: charge for pk, charge in reserved.items() if charge is not None}
    if len(reserved) < len(affordable):
        reason = _reason_of(run, refusing)
    if run.reserved or charges or (reserved and reason == Run.Reason.REQUESTS):
        reason = ""  # calls under way will release money; there may be some requests left
    total = sum((charge.most for charge in charges.values()), Decimal(0))
    if total:
        Run.objects.filter(pk=run.pk).update(reserved=F("reserved") + total)
    return {pk: pair for pk, pair in planned.items() if pk in reserved}, charges, reason


def _reason_of(run: Run, account: str) -> str:
    """account: the first that refused, or ""."""
    if run.team_id is not None:
        quota = member_account(run.team_id, run.person)
        reasons = {
            team_account(run.team_id): Run.Reason.TEAM_DAY, f"{team_account(run.team_id)}/month": Run.Reason.TEAM_MONTH,
            quota: Run.Reason.QUOTA, f"{quota}/requests": Run.Reason.REQUESTS,
        }  # fmt: skip
        if account in reasons:
            return reasons[account]
    return Run.Reason.HALTED if are_paid_calls_halted() else Run.Reason.DAY_BUDGET


def _cap(plan: PlannedCall) -> int:
    """Return the cap of an entrant that overrides the model's own; 0 for the model's."""
    caps = [int(plan.overrides[name]) for name in CAPS & plan.overrides.keys()]
    return max(caps, default=0)


def _insert(
    planned: _Planned,
    charges: Mapping[int, Charge],
    entrants: Mapping[int, Entrant],
    keys: Mapping[int, str],
    uploads: Mapping[int, Upload],
) -> list[ClaimedItem]:
    if not planned:
        return []
    items = [item for item, _ in planned.values()]
    by_position = {number: charges[item.item_id] for number, item in enumerate(items) if item.item_id in charges}
    calls = insert_started([plan for _, plan in planned.values()], by_position)
    made = [{"item_id": item.item_id, "call_id": call.row.pk} for item, call in zip(items, calls, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(
            read_sql("claim_items.sql"),
            {"calls": msgspec.json.encode(made).decode(), "lease": RunItem.LEASE.total_seconds()},
        )
    return [
        ClaimedItem(
            item.item_id, entrants[item.entrant_id], item.case_id, item.turn, len(item.turns), item.attempt + 1,
            item.fence + 1, item.preempted, keys[item.item_id], call,
            case_files.pictures_of(item.messages, uploads),
        )
        for item, call in zip(items, calls, strict=True)
    ]  # fmt: skip


@transaction.atomic
def renew_leases(run_id: int, claimed: Sequence[ClaimedItem]) -> set[int]:
    """Renew the leases of items and calls; return ids of items whose claim still holds."""
    Run.objects.lock(run_id)
    fences = {item.item_id: item.fence for item in claimed}
    answering = RunItem.objects.filter(pk__in=fences, state=RunItem.State.ANSWERING)
    held = {pk for pk, fence in answering.values_list("pk", "fence") if fences[pk] == fence}
    until = Now() + RunItem.LEASE
    RunItem.objects.filter(pk__in=held).update(lease_until=until)
    calls = [item.call.row.pk for item in claimed if item.item_id in held]
    Call.objects.unfinished().filter(pk__in=calls).update(lease_until=until)
    return held
