"""Differences between a provider's list and the registry: proposed, then accepted or dismissed."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import User
from common.payload_types import JsonObject
from common.text.money import plain_decimal
from models_registry import versions
from models_registry.models import LanguageModel, Provider
from models_registry.models.catalogues import CatalogueChange
from models_registry.providers.catalogue import Offer, find_offer

Kind, State = CatalogueChange.Kind, CatalogueChange.State


@transaction.atomic
def propose_changes(provider: Provider, offers: Sequence[Offer]) -> int:
    """Compare a new list with the registry; return the number of new proposals.

    Outdated proposals are deleted; dismissed ones are not proposed again until they change. An empty list is ignored: a
    server that has just started may not have loaded a model yet.
    """
    if not offers:
        return 0
    models = provider.models.exclude(status=LanguageModel.Status.RETIRED).select_for_update(of=("self",))
    differences: dict[tuple[int, str], tuple[JsonObject, JsonObject]] = {
        (model.pk, kind): (before, after)
        for model in models.prefetch_related("prices").order_by("pk")
        for kind, before, after in _differences(model, find_offer(offers, model.upstream_name))
    }
    decided: dict[tuple[int, str], CatalogueChange] = {}
    for change in CatalogueChange.objects.filter(model__provider=provider).order_by("pk"):
        key = (change.model_id, change.kind)
        if change.state != State.PROPOSED:
            decided[key] = change
        elif differences.get(key) == (change.before, change.after):
            del differences[key]
        else:
            change.delete()
    proposals = [
        CatalogueChange(model_id=model_id, kind=kind, before=before, after=after)
        for (model_id, kind), (before, after) in differences.items()
        if not _was_dismissed(decided.get((model_id, kind)), after)
    ]
    return len(CatalogueChange.objects.bulk_create(proposals))


def _was_dismissed(last: CatalogueChange | None, after: JsonObject) -> bool:
    return last is not None and last.state == State.DISMISSED and last.after == after


def _differences(model: LanguageModel, offer: Offer | None) -> Iterable[tuple[str, JsonObject, JsonObject]]:
    """Yield (kind, before, after)."""
    if offer is None:
        yield Kind.GONE, {}, {}
        return
    price = model.price
    if offer.price_input is not None and offer.price_output is not None:
        old = _price(price.input_per_million, price.output_per_million) if price else {}
        new = _price(offer.price_input, offer.price_output)
        if old != new:
            yield Kind.PRICE, old, new
    if offer.context_length and offer.context_length != model.context_length:
        before_tokens = {"tokens": model.context_length} if model.context_length else {}
        yield Kind.CONTEXT, before_tokens, {"tokens": offer.context_length}


def _price(input_per_million: Decimal, output_per_million: Decimal) -> JsonObject:
    return {"input": plain_decimal(input_per_million), "output": plain_decimal(output_per_million)}


@transaction.atomic
def accept(change: CatalogueChange, *, by: User) -> bool:
    """Apply the change; return False if it was decided before."""
    if not _decide(change, State.ACCEPTED, by):
        return False
    match change.kind:
        case Kind.PRICE:
            versions.set_price(change.model, Decimal(change.after["input"]), Decimal(change.after["output"]))
        case Kind.CONTEXT:
            versions.revise(change.model_id, {"context_length": change.after["tokens"]})
        case Kind.GONE:
            versions.revise(change.model_id, {"status": LanguageModel.Status.RETIRED})
    return True


@transaction.atomic
def dismiss(change: CatalogueChange, *, by: User) -> bool:
    """Return False if it was decided before."""
    return _decide(change, State.DISMISSED, by)


def _decide(change: CatalogueChange, state: str, by: User) -> bool:
    waiting = CatalogueChange.objects.waiting().filter(pk=change.pk)
    if not waiting.update(state=state, decided_at=timezone.now(), decided_by=by):
        return False
    verb = "accept" if state == State.ACCEPTED else "dismiss"
    audit.record(
        by, f"{verb} catalogue change", change.model, kind=change.kind, before=change.before, after=change.after
    )
    return True
