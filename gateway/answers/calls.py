"""Calls of an exchange: open, fall back, settle. Functions with queries run in a thread."""

from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.utils.translation import override

from battles.auto.port import Target
from battles.auto.reasons import reason_sentence
from battles.auto.store import store_decision
from battles.calls import (
    CallResult,
    PlannedCall,
    PreparedCall,
    bill_for,
    is_limited,
    record_failure,
    set_outcome,
    start_call,
    store_result,
)
from battles.errors import ARENA_OVER_BUDGET, BudgetReached, ModelsOverBudget, budget_reached
from battles.models import Call, RoutingDecision
from battles.prompting.messages import with_system_prompt
from common.errors import ArenaError
from common.payload_types import JsonObject
from gateway.answers import sessions
from gateway.answers.candidates import Candidates
from gateway.answers.idempotency import Claim
from gateway.authentication import Caller
from gateway.doors.port import Door
from gateway.models import Exchange
from gateway.outgoing.parameters import fee_of, parameters_for
from gateway.outgoing.state_tags import Seal
from gateway.parsing.chat import ChatBody
from models_registry import drawable_cache
from models_registry.health import outcomes
from models_registry.models import LanguageModel
from models_registry.models.ledger import Account, seconds_until_tomorrow
from models_registry.payers import Payer
from models_registry.providers import FailureCode

# Models that are tried after the chosen one, if it fails before the first byte.
MAX_FALLBACKS = 2
# A lease lasts this long beyond the call's deadline; then the sweeper settles the call of a killed process.
LEASE_MARGIN_S = 60


class NoSlot(Exception):
    """Raised if all of the model's or its provider's slots are taken."""


@dataclass
class Request:
    caller: Caller
    chat: ChatBody
    exchange: Exchange
    candidates: Candidates
    door: Door
    # US dollars by call.
    costs: dict[int, Decimal] = field(default_factory=dict)
    fallbacks: int = 0
    # None until a fallback is looked for.
    next_models: list[LanguageModel] | None = None
    decision: RoutingDecision | None = None
    claim: Claim | None = None
    # The answer to a request without a stream.
    completion: JsonObject | None = field(default=None, repr=False)
    # Texts that the caller receives; stored if the token keeps texts.
    texts: JsonObject | None = field(default=None, repr=False)
    # Whether the member's quota of requests has counted it.
    is_counted: bool = False

    @property
    def reason(self) -> str:
        """Return the decision's reason for a header; "" for a model that the caller named."""
        decision = self.decision
        if decision is None:
            return ""
        with override("en"):
            return f"{decision.reason}: {reason_sentence(decision.reason, decision.details)}"


def open_call(request: Request, model: LanguageModel) -> PreparedCall:
    """Take a slot, reserve money and insert the call; the exchange is stored when it is settled.

    Raises NoSlot, BudgetReached and ModelsOverBudget, after which there is no call.
    """
    plan = _plan(request, model)
    payer = _payer(request)
    shares = {} if request.is_counted else payer.request()
    # A lone INSERT is a transaction: BEGIN and COMMIT would be two more waits before the first byte.
    is_lone = request.candidates.routed is None and not model.is_paid and not shares and not is_limited(model)
    with nullcontext() if is_lone else transaction.atomic():
        _store_decision(request, model)
        prepared = start_call(plan, person=payer.person, shares=shares)
        if prepared is FailureCode.RATE_LIMITED:
            raise NoSlot
        if isinstance(prepared, FailureCode):
            raise _over_budget(plan, payer, shares)
    request.is_counted = True
    return prepared


def _payer(request: Request) -> Payer:
    actor = request.caller.actor
    return Payer.of(actor, actor.place_id)


@transaction.atomic
def settle(request: Request, prepared: PreparedCall, result: CallResult) -> None:
    """Store how a call ended, and its exchange. May run twice."""
    set_outcome(prepared, result)
    call, exchange = prepared.row, request.exchange
    if call.cost is not None:
        request.costs[call.pk] = call.cost
    exchange.call, exchange.decision, exchange.fallbacks = call, request.decision, request.fallbacks
    exchange.prompt_tokens, exchange.completion_tokens = call.prompt_tokens, call.completion_tokens
    exchange.cost = sum(request.costs.values(), Decimal(0)) if request.costs else None
    exchange.finish_reason, exchange.error, exchange.texts = call.finish_reason, call.error, request.texts
    Exchange.objects.store_settled(exchange)
    if request.claim is not None and request.completion is not None:
        request.claim.store(request.completion)
    if store_result(prepared, result) and result.affects_breakers:
        if result.error is None:
            outcomes.record_answers([call.model])
        else:
            record_failure(prepared, result, is_callers=True)
    if result.error is None and request.candidates.routed is not None:
        transaction.on_commit(partial(_remember, request, call.model.pk, calls_tools=result.tool_characters > 0))


def _store_decision(request: Request, model: LanguageModel) -> None:
    """Store the router's decision, and another one for each model that answers instead."""
    routing_request, routed = request.candidates.routing_request, request.candidates.routed
    if routing_request is None or routed is None:
        return
    if model != routed.models[0]:
        routed = replace(routed, target=Target.FALLBACK, models=(model,), reason="fallback", details={})
    request.decision = store_decision(actor=request.caller.actor, request=routing_request, routed=routed)


def _plan(request: Request, model: LanguageModel) -> PlannedCall:
    chat = request.chat
    lease_s = model.provider.deadlines["total"] + LEASE_MARGIN_S
    return PlannedCall(
        model,
        Seal(model).opened(messages_for(chat, model)),
        purpose=Call.Purpose.GATEWAY,
        max_tokens=min(chat.max_tokens or model.max_tokens, model.max_tokens),
        lease=timedelta(seconds=lease_s),
        overrides=parameters_for(chat, model, token=request.caller.token.pk),
        fee=fee_of(chat, model),
        writes_cache=chat.writes_cache,
        person=request.caller.actor.key,
        team_id=request.caller.actor.place_id,
        conversation=f"gateway:{request.exchange.session_digest or request.exchange.public_id}",
    )


def _remember(request: Request, model: int, *, calls_tools: bool) -> None:
    routed, digest = request.candidates.routed, request.exchange.session_digest
    if routed is not None:
        sessions.remember(digest, model=model, labels=routed.labels, calls_tools=calls_tools)


def messages_for(chat: ChatBody, model: LanguageModel) -> list[JsonObject]:
    """Return the caller's messages, after the model's system prompt unless they have one."""
    messages = chat.conversation.messages
    return messages if chat.conversation.system else with_system_prompt(model, messages)


def _over_budget(
    plan: PlannedCall, payer: Payer, shares: Mapping[Account, Decimal]
) -> BudgetReached | ModelsOverBudget:
    bill = bill_for(plan, payer.person)
    money = dict.fromkeys(payer.accounts(site_pays=bill.site_pays), bill.most) if bill is not None else {}
    if account := payer.refusing_account({**money, **shares}):
        return budget_reached(payer, account)
    return ModelsOverBudget(ARENA_OVER_BUDGET, retry_after=seconds_until_tomorrow())


def open_first(request: Request) -> PreparedCall | None:
    """Open a call to the chosen model, or to the next one; return None to wait for a slot of the chosen one.

    Raises BudgetReached and ModelsOverBudget.
    """
    chosen, *others = request.candidates.models
    refusal: ArenaError | None = None
    try:
        return open_call(request, chosen)
    except NoSlot:
        pass
    except (BudgetReached, ModelsOverBudget) as error:
        refusal = error
    prepared = open_next(request) if others else None
    if prepared is None and refusal is not None:
        raise refusal
    if prepared is None:
        request.fallbacks, request.next_models = 0, None
    return prepared


def open_next(request: Request) -> PreparedCall | None:
    """Open a call to the next model that has a slot and is affordable; None after MAX_FALLBACKS models."""
    if request.next_models is None:
        # Drawable models come first, because the others would probably fail, too.
        drawable = {model.pk for model in drawable_cache.roster_of(request.caller.actor.place_id).drawable}
        models = request.candidates.next_models(request.caller.actor)
        models.sort(key=lambda model: model.pk not in drawable)
        request.next_models = models[: MAX_FALLBACKS - request.fallbacks]
    while request.next_models:
        request.fallbacks += 1
        with suppress(NoSlot, BudgetReached, ModelsOverBudget):
            return open_call(request, request.next_models.pop(0))
    return None
