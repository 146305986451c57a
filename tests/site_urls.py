"""Every URL of the site, from the resolver."""

import re
from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver


def addresses() -> list[str]:
    """Return URL patterns in OpenAPI's form: `/api/v1/battles/{public_id}/vote/`."""
    return list(_under(get_resolver().url_patterns, "/"))


def _under(patterns: list[Any], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = prefix + plain(str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from _under(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def plain(route: str) -> str:
    route = re.sub(r"\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", r"{\1}", route)
    route = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
    return re.sub(r"^\^|\$$|\\Z$", "", route).replace("\\.", ".").replace("\\", "")
