"""`python -m tools.screenshots.people`: create members and staff in a running arena and sign them in.

Prints JSON: `signed_in` has their session cookies, `ids` the ids and keys in URLs of their pages.
"""

import json
import os
import time
from datetime import timedelta
from hashlib import sha256
from secrets import token_bytes
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from allauth.account.forms import default_token_generator  # noqa: E402
from allauth.account.models import EmailAddress, EmailConfirmationHMAC  # noqa: E402
from allauth.account.utils import user_pk_to_url_str  # noqa: E402
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes  # noqa: E402
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret  # noqa: E402
from allauth.mfa.webauthn.internal.auth import WebAuthn  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402
from django.contrib.auth.models import Group  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402
from fido2.cose import ES256  # noqa: E402
from fido2.utils import websafe_encode  # noqa: E402
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData  # noqa: E402

from accounts import actions  # noqa: E402
from accounts.actor import Actor  # noqa: E402
from accounts.models import ApiToken, Ban, Scope, User, Visitor  # noqa: E402
from accounts.sign_in.sessions import RECORDED_KEY  # noqa: E402
from accounts.teams.actions import create_team  # noqa: E402
from arena_site.moderators import MODERATORS  # noqa: E402
from site_content.actions import publish_page  # noqa: E402
from site_content.models import PageVersion  # noqa: E402
from uploads.actions import keep_upload  # noqa: E402

PASSWORD = "a-good-password-1"
# Shown in the list of browsers as "Firefox on Windows" and so on.
AGENTS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 "
    "Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
]
CSV = b"city,year,visitors\nBrest,2024,1400000\nBrest,2025,1520000\n"

PAGES = {
    "privacy": {
        "en": "# What is stored\n\nPrompts, answers and votes, **without** network addresses.\n\n"
        "| data | kept for |\n|---|---|\n| sessions | a year |\n| votes | good |\n",
        "fr": "# Données enregistrées\n\nQuestions, réponses et votes, **sans** adresses réseau.\n",
    },
    "terms": {"en": "# Rules\n\n1. Be kind.\n2. Send nothing private.\n", "fr": "# Règles\n\n1. Restez aimables.\n"},
}


def create_person(name: str, **fields: object) -> User:
    user = User.objects.create_user(f"{name}@example.org", PASSWORD, **fields)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    return user


def sign_in(user: User, agent: str = AGENTS[2]) -> str:
    """Return the session cookie's value. Reauthentication is not needed for a day."""
    client = Client(headers={"host": "127.0.0.1", "User-Agent": agent})
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    session = client.session
    session["account_authentication_methods"] = [
        {"method": "password", "at": time.time() + 86_400, "email": user.email, "reauthenticated": True}
    ]
    session["account_authentication_methods_user"] = str(user.pk)
    del session[RECORDED_KEY]  # so that the next page records the browser
    session.save()
    assert client.get("/accounts/browsers/").status_code == 200
    return str(client.cookies["sessionid"].value)


def make_passkey() -> dict[str, Any]:
    """Return the credential that a browser sends to register a passkey."""
    key = ES256.from_cryptography_key(ec.generate_private_key(ec.SECP256R1()).public_key())
    name, flags = token_bytes(16), AuthenticatorData.FLAG
    data = AuthenticatorData.create(
        sha256(b"localhost").digest(), flags.UP | flags.UV | flags.AT, 0,
        AttestedCredentialData.create(Aaguid(bytes(16)), name, key),
    )  # fmt: skip
    client_data = b'{"type": "webauthn.create", "challenge": "", "origin": "http://localhost"}'
    return {
        "id": websafe_encode(name), "rawId": websafe_encode(name), "type": "public-key",
        "clientExtensionResults": {"credProps": {"rk": True}},
        "response": {
            "attestationObject": websafe_encode(AttestationObject.create("none", data, {})),
            "clientDataJSON": websafe_encode(client_data),
        },
    }  # fmt: skip


def main() -> None:
    member, guarded = create_person("mara"), create_person("noor")
    moderator = create_person("ines", is_staff=True)
    administrator = create_person("otto", is_staff=True, is_superuser=True)
    moderator.groups.add(Group.objects.get(name=MODERATORS))
    newcomer = User.objects.create_user("lena@example.org", PASSWORD)
    unconfirmed = EmailAddress.objects.create(user=newcomer, email=newcomer.email, primary=True)
    for agent in AGENTS[:2]:
        sign_in(member, agent)
    TOTP.activate(guarded, generate_totp_secret())
    RecoveryCodes.activate(guarded)
    passkey = WebAuthn.add(guarded, "This laptop", make_passkey()).instance
    for name, scopes in (("notebook", [Scope.READ, Scope.BATTLE, Scope.VOTE]), ("weekly export", [Scope.EXPORT])):
        ApiToken.issue(user=member, name=name, scopes=scopes, expires_at=timezone.now() + timedelta(days=90))
    for name, content in (("visitors-by-city.csv", CSV), ("opening-hours.md", b"# Opening hours\n\nDaily, 9 to 17.\n")):
        keep_upload(actor=Actor(user=member, network="127.0.0.1"), content=content, name=name)
    actions.invite(by=administrator, email="guest@example.org", expires_at=timezone.now() + timedelta(days=7))
    team = create_team(by=guarded, owner=guarded, name="Physics, first year", slug="physics-1")
    banned = Visitor.objects.create()
    actions.ban(Ban(visitor=banned, reason="Advertisements in every prompt."), by=administrator)
    for name, texts in PAGES.items():
        publish_page(page=PageVersion.Page(name), texts=texts, must_be_accepted=False, by=administrator)
    print(json.dumps({
        "signed_in": {
            "member": sign_in(member), "guarded": sign_in(guarded), "moderator": sign_in(moderator),
            "administrator": sign_in(administrator),
        },
        "ids": {
            "confirmation": EmailConfirmationHMAC(unconfirmed).key,
            "uid": user_pk_to_url_str(newcomer), "reset_key": default_token_generator.make_token(newcomer),
            "passkey": str(passkey.pk), "team": team.slug,
        },
    }))  # fmt: skip


if __name__ == "__main__":
    main()
