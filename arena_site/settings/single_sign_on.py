"""Issuers of OpenID Connect: ARENA_SSO lists their keys, ARENA_SSO_<KEY>_… describes each."""

from arena_site.settings.env import load_env

env = load_env()


def _issuer(key: str) -> dict[str, object]:
    prefix = f"ARENA_SSO_{key.upper()}_"
    return {
        "key": key.lower(),
        "url": env.str(prefix + "URL", default=""),
        "internal_url": env.str(prefix + "INTERNAL_URL", default=""),
        "name": env.str(prefix + "NAME", default="") or key,
        "client_id": env.str(prefix + "CLIENT_ID", default=""),
        "client_secret": env.str(prefix + "CLIENT_SECRET", default=""),
        "domains": [domain.strip().lower() for domain in env.list(prefix + "DOMAINS", default=[])],
        "scope": env.str(prefix + "SCOPE", default="") or "openid email",
        "verified_claim": env.str(prefix + "VERIFIED_CLAIM", default="") or "email_verified",
        "trusts_addresses": env.bool(prefix + "TRUST_ADDRESSES", default=False),
        "groups_claim": env.str(prefix + "GROUPS_CLAIM", default="") or "groups",
        "staff_group": env.str(prefix + "STAFF_GROUP", default=""),
        "moderators_group": env.str(prefix + "MODERATORS_GROUP", default=""),
    }


# Browser sessions of people whose membership in a team an issuer decides.
ARENA_SSO_TEAM_SESSION_HOURS = env.int("ARENA_SSO_TEAM_SESSION_HOURS", default=12)
ARENA_SSO = [_issuer(key.strip()) for key in env.list("ARENA_SSO", default=[]) if key.strip()]
