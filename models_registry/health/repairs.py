"""Memory of repairs of the arena's and the models' own values, for a day once a neutral probe confirms them."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from common.cache import TTLCached
from models_registry.health.signals import repair_suspected
from models_registry.models import LanguageModel, RequestRepair
from models_registry.models.inquiries import inquiries_exist
from models_registry.models.repairs import REFUTED_FOR, REMEMBERED_FOR
from models_registry.providers.repairs import parameter_of

logger = logging.getLogger(__name__)

State = RequestRepair.State
CHECK_LEASE = timedelta(minutes=5)
# Only requests of callers and the history of a conversation have these parts.
_NEVER_OWN = {
    "developer → system", "merge roles", "parts → text", "null → text", "bridge tool → user", "with reasoning",
    "without reasoning", "system first",
}  # fmt: skip


def _load() -> Mapping[int, list[RequestRepair]]:
    repairs: dict[int, list[RequestRepair]] = defaultdict(list)
    for repair in RequestRepair.objects.in_force().order_by("pk") if inquiries_exist() else ():
        repairs[repair.model_id].append(repair)
    return repairs


in_force = TTLCached(_load, ttl_s=2, invalidated_by=(RequestRepair,))


def repairs_of(model: LanguageModel, *, is_battle: bool, callers: frozenset[str]) -> list[str]:
    """callers: parameters that a caller of the gateway chose."""
    return [
        row.repair
        for row in in_force().get(model.pk, ())
        if parameter_of(row.repair) not in callers
        and (not is_battle or row.battles_go_on or parameter_of(row.repair) not in model.own_sampling)
    ]


def kept_parameters(model: LanguageModel) -> frozenset[str]:
    """Return the parameters without which the model would be another contestant."""
    allowed = {parameter_of(row.repair) for row in in_force().get(model.pk, ()) if row.battles_go_on}
    return model.own_sampling - allowed


def suspect(model: LanguageModel, repairs: Iterable[str], *, callers: frozenset[str]) -> None:
    """Note repairs of own values, and have a probe check new ones after the commit."""
    for repair in repairs:
        if repair not in _NEVER_OWN and parameter_of(repair) not in callers:
            transaction.on_commit(partial(_note, model, repair))


def _note(model: LanguageModel, repair: str) -> None:
    try:
        now = timezone.now()
        row, is_new = RequestRepair.objects.get_or_create(model_id=model.pk, repair=repair, defaults={"due_at": now})
        is_over = row.expires_at is not None and row.expires_at <= now
        if is_over:
            row.state, row.expires_at, row.due_at = State.SUSPECTED, None, now
        if is_new or is_over:
            row.seen_at = now
            row.save()
            repair_suspected.send(sender=RequestRepair, repair_id=row.pk)
    except Exception:  # of the memory only: the answer is stored
        logger.exception("the repair %s of model %s was not noted", repair, model.pk)


def take_check(repair_id: int) -> RequestRepair | None:
    if not RequestRepair.objects.take(repair_id, lease=CHECK_LEASE):
        return None
    return RequestRepair.objects.select_related("model__provider").get(pk=repair_id)


def record_check(row: RequestRepair, *, is_confirmed: bool) -> None:
    row.due_at = None
    row.state = State.CONFIRMED if is_confirmed else State.REFUTED
    row.expires_at = timezone.now() + (REMEMBERED_FOR if is_confirmed else REFUTED_FOR)
    row.save()
    logger.info("the repair %s of %s is %s", row.repair, row.model, row.state)


def postpone_check(row: RequestRepair) -> None:
    row.due_at = timezone.now() + timedelta(minutes=1)
    row.save()
