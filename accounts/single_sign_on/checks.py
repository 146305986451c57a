import re
from collections import Counter
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Error, register

from accounts.single_sign_on.issuers import Issuer, all_issuers

MAX_URL_LENGTH = 200  # of SocialAccount.provider


@register()
def check_issuers(**_: object) -> list[CheckMessage]:
    issuers = all_issuers()
    domains = Counter(domain for issuer in issuers for domain in issuer.domains)
    problems = [f"{_prefix(issuer)}{problem}" for issuer in issuers for problem in _problems(issuer)]
    problems += [f"ARENA_SSO_…_DOMAINS: {domain} is listed twice" for domain, times in domains.items() if times > 1]
    for name in ("key", "url"):
        if len({getattr(issuer, name).rstrip("/") for issuer in issuers}) < len(issuers):
            problems.append(f"ARENA_SSO: two issuers have the same {name}")
    return [Error(f"Single sign-on: {problem}.", id="accounts.E001") for problem in problems]


def _prefix(issuer: Issuer) -> str:
    return f"ARENA_SSO_{issuer.key.upper()}_"


def _problems(issuer: Issuer) -> list[str]:
    wrong = {
        "…: a key has letters, digits and underscores": not re.fullmatch(r"[a-z0-9_]{1,30}", issuer.key),
        "URL must be the issuer's HTTPS address, without “/.well-known/…”": not issuer.may_have(issuer.url)
        or "/.well-known/" in issuer.url
        or "?" in issuer.url
        or len(issuer.url) > MAX_URL_LENGTH,
        "INTERNAL_URL must be the issuer's address inside your network, with its path": issuer.internal_url != ""
        and not _is_base(issuer.internal_url),
        "CLIENT_ID is missing": not issuer.client_id,
        "SCOPE must contain openid": "openid" not in issuer.scope.split(),
        "DOMAINS must be domains such as example.org": any(
            not re.fullmatch(r"[a-z0-9.-]+\.[a-z0-9-]+", domain) for domain in issuer.domains
        ),
    }
    return [problem for problem, is_wrong in wrong.items() if is_wrong]


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and parts.hostname is not None and parts.port != 0
    except ValueError:  # a port that is no number, half an IPv6 address
        return False
    return is_http and not parts.username and not parts.query and not parts.fragment and "/.well-known/" not in url
