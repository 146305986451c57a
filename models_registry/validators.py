import math
import re
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from common.network_zones import Zone, zone_of_url
from common.text.storable import has_unstorable
from models_registry.providers.passing import may_be_added

MAX_TOOL_PRICE = 1_000
# Parameters that requests may have; others are refused, so that a typing error is noticed.
KNOWN_PARAMETERS: dict[str, tuple[type, ...]] = {
    "temperature": (int, float),
    "top_p": (int, float),
    "top_k": (int,),
    "min_p": (int, float),
    "max_tokens": (int,),
    "max_completion_tokens": (int,),
    "presence_penalty": (int, float),
    "frequency_penalty": (int, float),
    "repeat_penalty": (int, float),
    "seed": (int,),
    "stop": (str, list),
    "reasoning_effort": (str,),
}


def validate_endpoint(url: str) -> None:
    """Accept an http(s) URL without user, query or fragment, or `${ARENA_LOCAL_MODEL_URL}`, the embedded model's."""
    if url == "${ARENA_LOCAL_MODEL_URL}":
        return
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (reading it checks it)
    except ValueError as error:
        raise ValidationError(_("Enter a URL that begins with http:// or https://.")) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[\s\x00-\x1f]", url):
        raise ValidationError(_("Enter a URL that begins with http:// or https://."))
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValidationError(_("The URL may not contain a user, a query or a fragment."))
    if zone_of_url(url) is Zone.FORBIDDEN:
        raise ValidationError(
            _("This address is not allowed for a provider. Use 127.0.0.1 for a server on this machine.")
        )


def validate_environment_variable(name: str) -> None:
    if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
        raise ValidationError(_("Write the name of an environment variable, such as OPENAI_API_KEY."))


def validate_model_slug(slug: str) -> None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", slug):
        raise ValidationError(_("Use lower-case letters, digits, dots, hyphens and underscores."))


def validate_parameters(parameters: object) -> None:
    if not isinstance(parameters, dict):
        raise ValidationError(_('Write an object such as {"temperature": 0.7}.'))
    for name, value in parameters.items():
        types = KNOWN_PARAMETERS.get(name)
        if types is None:
            known = ", ".join(sorted(KNOWN_PARAMETERS))
            raise ValidationError(
                _("“%(name)s” is not a sampling parameter. Known: %(known)s."),
                params={"name": name, "known": known},
            )
        if not isinstance(value, types) or isinstance(value, bool):
            raise ValidationError(_("“%(name)s” has a value of the wrong type."), params={"name": name})
        if not _can_be_sent(value):
            raise ValidationError(_("“%(name)s” has a value that cannot be sent."), params={"name": name})


def validate_passed_names(names: list[str]) -> None:
    for name in names:
        if not may_be_added(name):
            raise ValidationError(
                _("“%(name)s” is never passed on: it may name an address, a key, another model or something stored."),
                params={"name": name},
            )


def validate_tool_prices(prices: object) -> None:
    if not isinstance(prices, dict):
        raise ValidationError(_('Write an object such as {"web_search": 0.01}.'))
    for name, price in prices.items():
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 < price <= MAX_TOOL_PRICE:
            raise ValidationError(_("“%(name)s” needs a price in US dollars above 0."), params={"name": name})


def validate_provider_key(key: str) -> None:
    """Accept visible ASCII only, because keys are sent in an HTTP header. The message never contains the key."""
    if not re.fullmatch(r"[!-~]+", key):
        raise ValidationError(_("A key contains only letters, digits and signs, without spaces."))


def _can_be_sent(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(part, str) and _can_be_sent(part) for part in value)
    if isinstance(value, str):
        return not has_unstorable(value)
    return isinstance(value, int | float) and math.isfinite(value)
