import logging
import re
import unicodedata
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import audit
from accounts.models import User
from common.payload_types import JsonObject
from models_registry import versions
from models_registry.catalogue import changes
from models_registry.encryption import KeyUnreadable
from models_registry.models import LanguageModel, Provider
from models_registry.models.catalogues import CATALOGUE_TTL, Catalogue
from models_registry.providers.catalogue import CatalogueRefused, Offer
from models_registry.providers.kinds import ProviderKind

_CYRILLIC = (
    "а=a б=b в=v г=g ґ=g д=d е=e ё=e є=ye ж=zh з=z и=i і=i ї=yi й=i к=k л=l м=m н=n о=o п=p р=r с=s т=t у=u ф=f х=kh "
    "ц=ts ч=ch ш=sh щ=shch ъ= ы=y ь= э=e ю=yu я=ya"
)
_GREEK = "α=a β=v γ=g δ=d ε=e ζ=z η=i θ=th ι=i κ=k λ=l μ=m ν=n ξ=x ο=o π=p ρ=r σ=s ς=s τ=t υ=y φ=f χ=ch ψ=ps ω=o"
_LATIN_LETTERS = str.maketrans(dict(pair.split("=") for pair in f"{_CYRILLIC} {_GREEK} ß=ss ø=o ł=l æ=ae œ=oe".split()))
_SYLLABLE = re.compile(r"(?:HANGUL SYLLABLE|(?:HIRAGANA|KATAKANA) LETTER(?: SMALL)?) (\w+)")

logger = logging.getLogger(__name__)

# Models of these servers were downloaded, so their weights are open.
_OPEN_WEIGHT_KINDS = {ProviderKind.OLLAMA, ProviderKind.VLLM, ProviderKind.LLAMACPP, ProviderKind.LM_STUDIO}


def get_catalogue(provider: Provider, *, refresh: bool = False) -> Catalogue:
    """Return the provider's list, at most a day old. Raises CatalogueRefused."""
    stored = Catalogue.objects.filter(provider=provider).first()
    if stored is not None and stored.is_fresh and not refresh:
        return stored
    Catalogue.objects.update_or_create(provider=provider, defaults={"asked_at": timezone.now()})
    return _refresh(provider)


def refresh_catalogues() -> None:
    """Refresh outdated lists of providers with registered models; propose differences. Never raises."""
    provider_ids = LanguageModel.of_every_owner.exclude(status=LanguageModel.Status.RETIRED).values("provider")
    for provider in Provider.of_every_owner.filter(pk__in=provider_ids).select_related("team").order_by("pk"):
        # Half the TTL, so that a second message or beat process skips providers that were requested just now.
        if provider.unavailable_reason or not Catalogue.objects.claim(provider.pk, older_than=CATALOGUE_TTL / 2):
            continue
        try:
            _refresh(provider)
        except CatalogueRefused as error:
            logger.warning("the catalogue of provider %s was not refreshed: %s", provider.pk, error)
        except Exception:
            logger.exception("the catalogue of provider %s was not refreshed", provider.pk)


def _refresh(provider: Provider) -> Catalogue:
    """Fetch and store the list. On CatalogueRefused, which is raised, keep the last list with the failure."""
    row = Catalogue.objects.filter(provider=provider)
    try:
        offers = _fetch(provider)
    except CatalogueRefused as error:
        row.update(failure=str(error))
        raise
    with transaction.atomic():
        row.update(listed=[offer.to_json() for offer in offers], fetched_at=timezone.now(), failure="")
        Provider.of_every_owner.filter(pk=provider.pk, needs_key=False).update(
            is_answering=True, probed_at=timezone.now()
        )
        # Administrators decide about the site's models, managers about their team's.
        proposed = changes.propose_changes(provider, offers)
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
    return fetch(provider.endpoint, key=key, kind=provider.known_kind, allows_private=provider.allows_private)


def registered_models(provider: Provider) -> dict[str, LanguageModel]:
    """Return unretired models by upstream name; the newest of several."""
    models = provider.models.exclude(status=LanguageModel.Status.RETIRED).order_by("version", "pk")
    return {model.upstream_name: model for model in models}


def offered_rows(provider: Provider, catalogue: Catalogue, search: str) -> list[JsonObject]:
    """Return offers with every word of `search` in their names, and their registered models or None."""
    known, words = registered_models(provider), search.lower().split()
    return [
        {"offer": offer, "model": known.get(offer.upstream_name)}
        for offer in catalogue.offers
        if all(word in f"{offer.upstream_name} {offer.name} {offer.organization}".lower() for word in words)
    ]


@transaction.atomic
def add_offered(
    provider: Provider, names: Iterable[str], *, status: LanguageModel.Status, by: User | None
) -> list[LanguageModel]:
    """Register models of the provider's stored list; return the new ones.

    Skips names that are registered already or are not in the list.
    """
    offers = {offer.upstream_name: offer for offer in Catalogue.objects.get(provider=provider).offers}
    known = registered_models(provider)
    added = []
    for name in dict.fromkeys(names):
        if name in offers and name not in known:
            model = create_model(provider, offers[name], status)
            audit.record(by, "add language model", model, offered_by=provider.name, upstream_name=name)
            added.append(model)
    return added


def create_model(provider: Provider, offer: Offer, status: LanguageModel.Status) -> LanguageModel:
    maker, _slash, short = offer.upstream_name.rpartition("/")
    is_open = offer.is_open or provider.known_kind in _OPEN_WEIGHT_KINDS
    model = LanguageModel.of_every_owner.create(
        team_id=provider.team_id,
        provider=provider,
        upstream_name=offer.upstream_name,
        slug=_free_slug(short, provider),
        name=(offer.name or short)[:120],
        organization=(offer.organization or maker)[:120],
        license_kind=LanguageModel.LicenseKind.OPEN if is_open else LanguageModel.LicenseKind.UNKNOWN,
        size_b=offer.size_b,
        context_length=offer.context_length,
        abilities=list(offer.abilities),
        status=status,
    )
    if offer.price_input is not None and offer.price_output is not None:
        versions.set_price(model, offer.price_input, offer.price_output)
    return model


def _latin(text: str) -> str:
    """Return lower-case text with Latin letters for Cyrillic, Greek, Korean and Japanese syllables (ADR 18)."""
    letters = []
    for letter in unicodedata.normalize("NFC", text.lower()):
        syllable = _SYLLABLE.fullmatch(unicodedata.name(letter, ""))
        base = letter if ord(letter) in _LATIN_LETTERS else unicodedata.normalize("NFKD", letter)
        letters.append(syllable[1].lower() if syllable else base.translate(_LATIN_LETTERS))
    return "".join(letter for letter in "".join(letters) if not unicodedata.combining(letter))


def _free_slug(name: str, provider: Provider) -> str:
    """Return a slug for the name, with the provider's kind and a number if it is taken."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", _latin(name).removesuffix(":latest")).strip("._-")[:80] or "model"
    kind = provider.known_kind.value
    numbered = (f"{plain}-{kind}-{number}" for number in range(2, 10_000))
    own = LanguageModel.of_every_owner.filter(team=provider.team_id)
    for slug in (plain, f"{plain}-{kind}", *numbered):
        if not own.filter(slug=slug).exists() and not own.filter(family=slug).exists():
            return slug
    raise ValueError(name)
