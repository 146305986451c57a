"""Outcomes of calls, for breakers: docs/adr/0065."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts import audit
from accounts.models import User
from common.prepared import PreparedQuery, any_of
from models_registry import breaker_rule as rule
from models_registry.health.signals import question_due
from models_registry.models import Breaker, Inquiry, LanguageModel, Provider
from models_registry.models.inquiries import inquiries_exist
from models_registry.providers.base import FailureCode

logger = logging.getLogger(__name__)

Cause = Inquiry.Cause
# A probe or question whose worker died can be claimed again after this.
PROBE_LEASE = timedelta(minutes=5)
# Time between two questions to a model.
QUESTION_INTERVAL = timedelta(minutes=1)
# A healthy model has none, so its answers lock no row.
_breakers_to_reset = PreparedQuery(
    lambda models, providers: (
        Breaker.objects.reset_by_answers()
        .filter(any_of("model_id", models) | any_of("provider_id", providers))
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
REJECTIONS = {FailureCode.REJECTED, FailureCode.TOO_LONG, FailureCode.UNSUPPORTED}
# These affect all of a provider's models.
PROVIDER_FAILURES = {
    FailureCode.NO_KEY,
    FailureCode.REFUSED_KEY,
    FailureCode.ACCOUNT,
    FailureCode.UNREACHABLE,
    FailureCode.ADDRESS_REFUSED,
}
# No prompt causes these, so no question is needed.
_DOWN = PROVIDER_FAILURES | {
    FailureCode.RATE_LIMITED,
    FailureCode.FIRST_TIMEOUT,
    FailureCode.IDLE_TIMEOUT,
    FailureCode.TOTAL_TIMEOUT,
}
_DOWN_STATUSES = {502, 503, 504}


@dataclass(frozen=True)
class Origin:
    """Conversation of a call."""

    person: str = ""  # the Actor.key
    conversation: str = ""
    # True for calls of the gateway, whose callers choose parameters.
    is_callers: bool = False
    # Returns how many people were active today, at least up to breaker_rule.PEOPLE.
    count_active: Callable[[], int] = lambda: rule.PEOPLE

    @property
    def digest(self) -> str:
        return salted_hmac("models_registry.health", self.person).hexdigest()[:12]


NO_ORIGIN = Origin()


def record_outcome(
    model: LanguageModel,
    error: FailureCode | None,
    *,
    retry_after: float | None = None,
    status: int = 0,
    origin: Origin = NO_ORIGIN,
) -> None:
    """Record how a call ended. Last in a transaction: the breaker's row stays locked until COMMIT.

    retry_after: seconds.
    """
    if error is None:
        record_answers([model])
    elif error not in NEUTRAL_FAILURES:
        is_down = error in _DOWN or status in _DOWN_STATUSES
        outcome = rule.DOWN if is_down else rule.REJECTED if error in REJECTIONS else rule.FAILED
        _record_failure(_lock_breaker(model, error), model, outcome, error, retry_after, origin)


def record_answers(models: Sequence[LanguageModel]) -> None:
    """Record a successful call of each model. Last in a transaction, as record_outcome."""
    if not models:
        return
    reset = list(_breakers_to_reset([model.pk for model in models], [model.provider_id for model in models]))
    for breaker in reset:
        if breaker.is_by_people:
            logger.info("the %s closes: a call was answered", breaker)
            breaker.recent, breaker.opened_at, breaker.probe_at = "", None, None
        else:
            for model in models:
                if model.pk == breaker.model_id or model.provider_id == breaker.provider_id:
                    breaker.recent = rule.append_outcome(breaker.recent, rule.ANSWERED)
        breaker.openings = 0
        breaker.save(update_fields=["recent", "openings", "opened_at", "probe_at"])
    _forget(reset)


def _lock_breaker(model: LanguageModel, error: FailureCode) -> Breaker:
    lookup = {"provider_id": model.provider_id} if error in PROVIDER_FAILURES else {"model_id": model.pk}
    Breaker.objects.bulk_create([Breaker(**lookup)], ignore_conflicts=True)
    return Breaker.objects.select_for_update().get(**lookup)


def _lock_inquiry(breaker: Breaker) -> Inquiry | None:
    if not inquiries_exist():
        return None
    Inquiry.objects.bulk_create([Inquiry(breaker=breaker)], ignore_conflicts=True)
    return Inquiry.objects.select_for_update().get(breaker=breaker)


def _record_failure(
    breaker: Breaker,
    model: LanguageModel,
    outcome: str,
    error: FailureCode,
    retry_after: float | None,
    origin: Origin,
) -> None:
    inquiry = _lock_inquiry(breaker)
    if inquiry is not None:
        if outcome != rule.DOWN and (origin.is_callers or inquiry.is_person_cleared(origin.digest)):
            outcome = rule.PERSONAL
        if origin.conversation and error not in PROVIDER_FAILURES:
            inquiry.add_failure(origin.conversation, origin.digest, error)
    if breaker.probe_at is None or breaker.is_on_trial:
        breaker.reason = error
    if breaker.is_by_people:
        if breaker.is_on_trial:
            _open(breaker, retry_after)
    else:
        breaker.recent = rule.append_outcome(breaker.recent, outcome)
        if breaker.probe_at is None:
            _judge(breaker, inquiry, model, retry_after, origin)
    if inquiry is not None:
        inquiry.save()
    breaker.save()


def _judge(
    breaker: Breaker, inquiry: Inquiry | None, model: LanguageModel, retry_after: float | None, origin: Origin
) -> None:
    must_wait = retry_after is not None and retry_after >= rule.OPENING_RETRY_AFTER_S
    if must_wait or rule.is_down(breaker.recent) or (inquiry is None and rule.should_open(breaker.recent)):
        _open(breaker, retry_after, inquiry)
    elif inquiry is None:
        return
    elif inquiry.has_enough_conversations and inquiry.concerns_people(origin.count_active()):
        _open(breaker, None, inquiry, Cause.PEOPLE)
        breaker.recent = rule.BY_PEOPLE
    elif inquiry.due_at is None and rule.should_open(breaker.recent):
        now = timezone.now()
        inquiry.asked_model = model
        inquiry.due_at = max(now, inquiry.asked_at + QUESTION_INTERVAL) if inquiry.asked_at else now
        if inquiry.due_at <= now:  # otherwise the sweeper wakes a worker
            transaction.on_commit(partial(question_due.send, sender=Inquiry, breaker_id=breaker.pk))


def _open(
    breaker: Breaker, retry_after: float | None, inquiry: Inquiry | None = None, cause: Cause = Cause.RULE
) -> None:
    """Open the breaker without saving it. Later failures of calls do not prolong it."""
    breaker.openings += 1
    seconds = rule.cooldown_s(breaker.openings, retry_after=retry_after)
    breaker.opened_at = breaker.opened_at or Now()
    breaker.probe_at = Now() + timedelta(seconds=seconds)
    if inquiry is not None:
        inquiry.cause, inquiry.due_at = cause, None
    logger.warning("the %s opens for %.0f s: %s (%s)", breaker, seconds, breaker.reason, cause)


def take_probe(breaker_id: int) -> LanguageModel | None:
    """Return the model to probe; None if not due, claimed by another worker, or without an active model."""
    if not Breaker.objects.take_probe(breaker_id, lease=PROBE_LEASE):
        return None
    breaker = Breaker.objects.get(pk=breaker_id)
    active = LanguageModel.of_every_owner.filter(status=LanguageModel.Status.ACTIVE).select_related("provider")
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
        _forget([breaker])
    else:
        breaker.reason = error
        _open(breaker, retry_after)
    breaker.save()


def postpone_probe(breaker_id: int) -> None:
    """Probe again after MIN_COOLDOWN_S: no call was made, for lack of a slot or of budget."""
    later = Now() + timedelta(seconds=rule.MIN_COOLDOWN_S)
    Breaker.objects.open().filter(pk=breaker_id).update(probe_at=later)


def take_question(breaker_id: int) -> LanguageModel | None:
    if not inquiries_exist() or not Inquiry.objects.take(breaker_id, lease=PROBE_LEASE):
        return None
    inquiry = Inquiry.objects.select_related("asked_model__provider").get(pk=breaker_id)
    if inquiry.asked_model is None:
        Inquiry.objects.filter(pk=breaker_id).update(due_at=None)
    return inquiry.asked_model


@transaction.atomic
def record_question(breaker_id: int, error: FailureCode | None, *, retry_after: float | None = None) -> None:
    """Clear the failures after a reply; otherwise open the breaker. Last in a transaction, as record_outcome."""
    breaker = Breaker.objects.select_for_update().get(pk=breaker_id)
    inquiry = Inquiry.objects.select_for_update().get(breaker=breaker)
    if inquiry.due_at is None or breaker.probe_at is not None:
        return  # a call was answered since, or the breaker is open by another rule
    if error is None:
        inquiry.clear_people()
        breaker.recent = rule.clear(breaker.recent)
        logger.info("the %s stays closed: a neutral question was answered", breaker)
    elif error is FailureCode.INTERRUPTED:
        inquiry.due_at = timezone.now()
    else:
        # A 403 to a neutral question is not about a prompt.
        breaker.reason = FailureCode.REFUSED_KEY if error is FailureCode.FORBIDDEN else error
        _open(breaker, retry_after, inquiry, Cause.QUESTION)
    inquiry.save()
    breaker.save()


@transaction.atomic
def open_unasked(breaker_id: int) -> None:
    """Open the breaker by its failures alone."""
    breaker = Breaker.objects.select_for_update().get(pk=breaker_id)
    inquiry = Inquiry.objects.select_for_update().get(breaker=breaker)
    if inquiry.due_at is not None and breaker.probe_at is None:
        _open(breaker, None, inquiry, Cause.NOT_ASKED)
        inquiry.save()
        breaker.save()


def reset_provider_breaker(provider: Provider) -> None:
    """Forget failures after a change of key or address."""
    _reset(Breaker.objects.filter(provider=provider))


@transaction.atomic
def close(model: LanguageModel, *, by: User) -> bool:
    """Close the breakers of the model and its provider; return whether one was open."""
    closed = _reset(Breaker.objects.of_model(model.pk, model.provider_id).open())
    if closed:
        audit.record(by, "close breaker", model)
    return closed > 0


def _reset(breakers: Iterable[Breaker]) -> int:
    listed = list(breakers)
    _forget(listed)
    return Breaker.objects.filter(pk__in=[breaker.pk for breaker in listed]).update(
        recent="", openings=0, opened_at=None, probe_at=None
    )


def _forget(breakers: Sequence[Breaker]) -> None:
    if breakers and inquiries_exist():
        Inquiry.objects.forget([breaker.pk for breaker in breakers])
