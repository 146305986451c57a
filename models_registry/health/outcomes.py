import logging
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from accounts.models import User
from common.prepared import PreparedQuery, any_of
from models_registry import breaker_rule as rule
from models_registry.models import Breaker, LanguageModel, Provider
from models_registry.providers.base import FailureCode

logger = logging.getLogger(__name__)

# A probe whose worker died can be claimed again after this.
PROBE_LEASE = timedelta(minutes=5)
# A healthy model has none, so its answers lock no row.
_breakers_to_reset = PreparedQuery(
    lambda models, providers: (
        Breaker.objects.with_failures()
        .filter(any_of("model_id", models) | any_of("provider_id", providers), probe_at=None)
        .order_by("pk")
        .select_for_update()
    ),
    list,
    list,
)

# Not the model's fault: caused by the arena, or by a conversation that is too long or not allowed.
NEUTRAL_FAILURES = {
    FailureCode.PROMPT_TOO_LONG,
    FailureCode.FILTERED,
    FailureCode.INTERRUPTED,
    FailureCode.OVER_BUDGET,
}
# Caused by the prompt or by the model's settings: see breaker_rule.REJECTED_IN_A_ROW.
REJECTIONS = {FailureCode.REJECTED, FailureCode.TOO_LONG}
# These affect all of a provider's models.
PROVIDER_FAILURES = {
    FailureCode.NO_KEY,
    FailureCode.REFUSED_KEY,
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
}


def record_outcome(model: LanguageModel, error: FailureCode | None, *, retry_after: float | None = None) -> None:
    """Record how a call ended. Last in a transaction: the breaker's row stays locked until COMMIT.

    retry_after: seconds.
    """
    if error is None:
        record_answers([model])
    elif error not in NEUTRAL_FAILURES:
        outcome = rule.REJECTED if error in REJECTIONS else rule.FAILED
        _record_failure(_lock_breaker(model, error), outcome, error, retry_after)


def record_answers(models: Sequence[LanguageModel]) -> None:
    """Record a successful call of each model. Last in a transaction, as record_outcome."""
    if not models:
        return
    for breaker in _breakers_to_reset([model.pk for model in models], [model.provider_id for model in models]):
        for model in models:
            if model.pk == breaker.model_id or model.provider_id == breaker.provider_id:
                breaker.recent = rule.append_outcome(breaker.recent, rule.ANSWERED)
        breaker.openings = 0
        breaker.save(update_fields=["recent", "openings"])


def _lock_breaker(model: LanguageModel, error: FailureCode) -> Breaker:
    lookup = {"provider_id": model.provider_id} if error in PROVIDER_FAILURES else {"model_id": model.pk}
    Breaker.objects.bulk_create([Breaker(**lookup)], ignore_conflicts=True)
    return Breaker.objects.select_for_update().get(**lookup)


def _record_failure(breaker: Breaker, outcome: str, error: FailureCode, retry_after: float | None) -> None:
    breaker.recent = rule.append_outcome(breaker.recent, outcome)
    breaker.reason = error
    must_wait = retry_after is not None and retry_after >= rule.OPENING_RETRY_AFTER_S
    if breaker.probe_at is None and (must_wait or rule.should_open(breaker.recent)):
        _open(breaker, retry_after)
    breaker.save()


def _open(breaker: Breaker, retry_after: float | None) -> None:
    """Open the breaker without saving it. Later failures of calls do not prolong it."""
    breaker.openings += 1
    seconds = rule.cooldown_s(breaker.openings, retry_after=retry_after)
    breaker.opened_at = breaker.opened_at or Now()
    breaker.probe_at = Now() + timedelta(seconds=seconds)
    logger.warning("the %s opens for %.0f s: %s", breaker, seconds, breaker.reason)


def take_probe(breaker_id: int) -> LanguageModel | None:
    """Return the model to probe; None if not due, claimed by another worker, or without an active model."""
    if not Breaker.objects.take_probe(breaker_id, lease=PROBE_LEASE):
        return None
    breaker = Breaker.objects.get(pk=breaker_id)
    active = LanguageModel.objects.filter(status=LanguageModel.Status.ACTIVE).select_related("provider")
    lookup = {"pk": breaker.model_id} if breaker.model_id else {"provider": breaker.provider_id}
    return active.filter(**lookup).order_by("pk").first()


@transaction.atomic
def record_probe(breaker_id: int, error: FailureCode | None, *, retry_after: float | None = None) -> None:
    """Close the breaker after an answer, or prolong it. Last in a transaction, as record_outcome."""
    breaker = Breaker.objects.select_for_update().open().filter(pk=breaker_id).first()
    if breaker is None:
        return  # an administrator has closed it since
    if error is None:
        breaker.recent, breaker.opened_at, breaker.probe_at = "", None, None
        logger.info("the %s closes: its probe was answered", breaker)
    else:
        breaker.reason = error
        _open(breaker, retry_after)
    breaker.save()


def postpone_probe(breaker_id: int) -> None:
    """Probe again after MIN_COOLDOWN_S: no call was made, for lack of a slot or of budget."""
    later = Now() + timedelta(seconds=rule.MIN_COOLDOWN_S)
    Breaker.objects.open().filter(pk=breaker_id).update(probe_at=later)


def reset_provider_breaker(provider: Provider) -> None:
    """Forget failures after a change of key or address."""
    Breaker.objects.filter(provider=provider).update(recent="", openings=0, opened_at=None, probe_at=None)


@transaction.atomic
def close(model: LanguageModel, *, by: User) -> bool:
    """Close the breakers of the model and its provider; return whether one was open."""
    closed = (
        Breaker.objects.of_model(model.pk, model.provider_id)
        .open()
        .update(recent="", openings=0, opened_at=None, probe_at=None)
    )
    if closed:
        audit.record(by, "close breaker", model)
    return closed > 0
