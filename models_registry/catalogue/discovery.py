"""Finding what a provider's endpoint serves, and adding what somebody chose of it."""

import logging
import re
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.models import User
from models_registry import versions
from models_registry.catalogue import changes
from models_registry.encryption import KeyUnreadable
from models_registry.models import LanguageModel, Provider
from models_registry.models.catalogues import GOOD_FOR, Catalogue
from models_registry.providers.catalogue import CatalogueRefused, Offer
from models_registry.providers.kinds import ProviderKind

logger = logging.getLogger(__name__)

# What these serve was downloaded as weights.
_SERVE_WEIGHTS = {ProviderKind.OLLAMA, ProviderKind.VLLM, ProviderKind.LLAMACPP, ProviderKind.LM_STUDIO}


def catalogue_of(provider: Provider, *, refresh: bool = False) -> Catalogue:
    """The provider's list, at most a day old. Raises CatalogueRefused."""
    known = Catalogue.objects.filter(provider=provider).first()
    if known is not None and known.is_fresh and not refresh:
        return known
    Catalogue.objects.update_or_create(provider=provider, defaults={"asked_at": timezone.now()})
    return _ask(provider)


def refresh_catalogues() -> None:
    """Ask every provider that serves models of ours, once a day; what differs is proposed. Never raises."""
    serving = LanguageModel.objects.exclude(status=LanguageModel.Status.RETIRED).values("provider")
    for provider in Provider.objects.filter(pk__in=serving).order_by("pk"):
        # Two beats, or a message that comes twice: the second finds it asked a moment ago.
        if provider.obstacle or not Catalogue.objects.claim(provider.pk, older_than=GOOD_FOR / 2):
            continue
        try:
            _ask(provider)
        except CatalogueRefused as error:
            logger.warning("the catalogue of provider %s was not refreshed: %s", provider.pk, error)
        except Exception:
            logger.exception("the catalogue of provider %s was not refreshed", provider.pk)


def _ask(provider: Provider) -> Catalogue:
    """Raises CatalogueRefused, whose words are stored beside the list that is known."""
    row = Catalogue.objects.filter(provider=provider)
    try:
        offers = _fetch(provider)
    except CatalogueRefused as error:
        row.update(failure=str(error))
        raise
    with transaction.atomic():
        row.update(listed=[offer.as_json() for offer in offers], fetched_at=timezone.now(), failure="")
        Provider.objects.filter(pk=provider.pk, needs_key=False).update(is_answering=True, probed_at=timezone.now())
        proposed = changes.propose(provider, offers)
    if proposed:
        logger.info("the catalogue of provider %s: %d new differences", provider.pk, proposed)
    return row.get()


def _fetch(provider: Provider) -> list[Offer]:
    from models_registry.providers.catalogue_page import fetch  # web processes start without aiohttp

    if not provider.endpoint:
        raise CatalogueRefused(_("The local model is not running."))
    try:
        key = provider.read_key()
    except KeyUnreadable:
        raise CatalogueRefused(_("The stored key cannot be decrypted: enter it again.")) from None
    return fetch(provider.endpoint, key=key, kind=provider.known_kind)


def registered(provider: Provider) -> dict[str, LanguageModel]:
    """The provider's models that are not retired, by upstream name; the newest where there are several."""
    kept = provider.models.exclude(status=LanguageModel.Status.RETIRED).order_by("version", "pk")
    return {model.upstream_name: model for model in kept}


@transaction.atomic
def add_offered(
    provider: Provider, names: Iterable[str], *, status: LanguageModel.Status, by: User | None
) -> list[LanguageModel]:
    """Register these upstream names of the provider's known list, as it describes them; returns the new models.

    What is registered already, or is not in the list, is left out.
    """
    offers = {offer.upstream_name: offer for offer in Catalogue.objects.get(provider=provider).offers}
    known = registered(provider)
    added = []
    for name in dict.fromkeys(names):
        if name in offers and name not in known:
            model = _add(provider, offers[name], status)
            audit.record(by, "add language model", model, offered_by=provider.name, upstream_name=name)
            added.append(model)
    return added


def _add(provider: Provider, offer: Offer, status: LanguageModel.Status) -> LanguageModel:
    maker, _slash, short = offer.upstream_name.rpartition("/")
    is_open = offer.is_open or provider.known_kind in _SERVE_WEIGHTS
    model = LanguageModel.objects.create(
        provider=provider,
        upstream_name=offer.upstream_name,
        slug=_free_slug(short, provider),
        name=(offer.name or short)[:120],
        organization=(offer.organization or maker)[:120],
        license_kind=LanguageModel.LicenseKind.OPEN if is_open else LanguageModel.LicenseKind.PROPRIETARY,
        size_b=offer.size_b,
        context_length=offer.context_length,
        abilities=list(offer.abilities),
        status=status,
    )
    if offer.price_input is not None and offer.price_output is not None:
        versions.set_price(model, offer.price_input, offer.price_output)
    return model


def _free_slug(name: str, provider: Provider) -> str:
    """The model's name as an address, with the provider's kind and then a number where somebody else has it."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", name.lower().removesuffix(":latest")).strip("._-")[:80] or "model"
    kind = provider.known_kind.value
    numbered = (f"{plain}-{kind}-{number}" for number in range(2, 10_000))
    for slug in (plain, f"{plain}-{kind}", *numbered):
        if (
            not LanguageModel.objects.filter(slug=slug).exists()
            and not LanguageModel.objects.filter(family=slug).exists()
        ):
            return slug
    raise ValueError(name)
