"""How calls end feeds the breakers; an open one closes again after a probe that was answered."""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.models import User
from common.prepared import PreparedQuery
from models_registry import breaker_rule as rule
from models_registry.models import Breaker, LanguageModel, Provider
from models_registry.providers.base import FailureCode

logger = logging.getLogger(__name__)

# A probe whose worker died is made again after this.
PROBE_LEASE = timedelta(minutes=5)
# A healthy model has none of these: its answers lock no row.
_to_forget = PreparedQuery(
    lambda model, provider: (
        Breaker.objects.about(model, provider).troubled().filter(probe_at=None).order_by("pk").select_for_update()
    ),
    int,
    int,
)

# Says nothing about the model: our own doing, or a conversation that is too long or too improper for it.
NOBODYS_FAULT = {
    FailureCode.PROMPT_TOO_LONG,
    FailureCode.FILTERED,
    FailureCode.INTERRUPTED,
    FailureCode.OVER_BUDGET,
}
# The prompt's author may be to blame, or the model's settings: see breaker_rule.REJECTED_IN_A_ROW.
PERHAPS_THE_PROMPTS = {FailureCode.REJECTED, FailureCode.TOO_LONG}
# The same for all of a provider's models.
THE_PROVIDERS_FAULT = {
    FailureCode.NO_KEY,
    FailureCode.REFUSED_KEY,
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
}


def record_outcome(model: LanguageModel, error: FailureCode | None, *, retry_after: float | None = None) -> None:
    """Feed the breakers with how a call ended (`retry_after`: seconds, as upstream said).

    Inside the transaction that ends the call, as its last statement: the breaker's row stays locked until COMMIT.
    """
    if error is None:
        _record_answer(model)
    elif error not in NOBODYS_FAULT:
        outcome = rule.REJECTED if error in PERHAPS_THE_PROMPTS else rule.FAILED
        _record_failure(_locked_breaker(model, error), outcome, error, retry_after)


def _record_answer(model: LanguageModel) -> None:
    for breaker in _to_forget(model.pk, model.provider_id):
        breaker.recent = rule.remember(breaker.recent, rule.ANSWERED)
        breaker.openings = 0
        breaker.save(update_fields=["recent", "openings"])


def _locked_breaker(model: LanguageModel, error: FailureCode) -> Breaker:
    about = {"provider_id": model.provider_id} if error in THE_PROVIDERS_FAULT else {"model_id": model.pk}
    Breaker.objects.bulk_create([Breaker(**about)], ignore_conflicts=True)
    return Breaker.objects.select_for_update().get(**about)


def _record_failure(breaker: Breaker, outcome: str, error: FailureCode, retry_after: float | None) -> None:
    breaker.recent = rule.remember(breaker.recent, outcome)
    breaker.reason = error
    must_wait = retry_after is not None and retry_after >= rule.LONG_RETRY_S
    if breaker.probe_at is None and (must_wait or rule.should_open(breaker.recent)):
        _open(breaker, retry_after)
    breaker.save()


def _open(breaker: Breaker, retry_after: float | None) -> None:
    """On this row (not saved). Calls that still end badly while it is open change nothing about it."""
    breaker.openings += 1
    seconds = rule.cooldown_s(breaker.openings, retry_after=retry_after)
    breaker.opened_at = breaker.opened_at or Now()
    breaker.probe_at = Now() + timedelta(seconds=seconds)
    logger.warning("the %s opens for %.0f s: %s", breaker, seconds, breaker.reason)


def take_probe(breaker_id: int) -> LanguageModel | None:
    """The model to send a probe to; None when it is not due, somebody else has it, or nobody can be asked."""
    if not Breaker.objects.take_probe(breaker_id, lease=PROBE_LEASE):
        return None
    breaker = Breaker.objects.get(pk=breaker_id)
    askable = LanguageModel.objects.filter(status=LanguageModel.Status.ACTIVE).select_related("provider")
    about = {"pk": breaker.model_id} if breaker.model_id else {"provider": breaker.provider_id}
    return askable.filter(**about).order_by("pk").first()


@transaction.atomic
def record_probe(breaker_id: int, error: FailureCode | None, *, retry_after: float | None = None) -> None:
    """An answered probe closes the breaker; any other leaves it open for longer. The last statement, as above."""
    breaker = Breaker.objects.select_for_update().open().filter(pk=breaker_id).first()
    if breaker is None:
        return  # an administrator closed it meanwhile
    if error is None:
        breaker.recent, breaker.opened_at, breaker.probe_at = "", None, None
        logger.info("the %s closes: its probe was answered", breaker)
    else:
        breaker.reason = error
        _open(breaker, retry_after)
    breaker.save()


def postpone_probe(breaker_id: int) -> None:
    """Nothing was asked, for want of a slot or of money: try again after the first cooldown."""
    later = Now() + timedelta(seconds=rule.FIRST_COOLDOWN_S)
    Breaker.objects.open().filter(pk=breaker_id).update(probe_at=later)


def forgive(provider: Provider) -> None:
    """Its key or its address is another now: what the old one did is forgotten."""
    Breaker.objects.filter(provider=provider).update(recent="", openings=0, opened_at=None, probe_at=None)


@transaction.atomic
def close(model: LanguageModel, *, by: User) -> bool:
    """Draw `model` again at once, forgetting its and its provider's failures; whether a breaker was open."""
    closed = (
        Breaker.objects.about(model.pk, model.provider_id)
        .open()
        .update(recent="", openings=0, opened_at=None, probe_at=None)
    )
    if closed:
        audit.record(by, "close breaker", model)
    return closed > 0
