"""Steps of a browser between the arena and an issuer."""

import html
import re
from typing import Any

from django.test import Client

from tests.fake_issuer import FakeIssuer

START = "/accounts/sso/company/"


def leave(client: Client, path: str = START, **data: str) -> str:
    """Press a button that leads to the issuer; return the issuer's address."""
    page = client.post(path, data)
    assert page.status_code == 200, page.text
    [link] = re.findall(r'<meta http-equiv="refresh" content="0;url=([^"]+)">', page.text)
    return html.unescape(link)


def sign_in(client: Client, issuer: FakeIssuer, path: str = START, **data: str) -> Any:
    """Go to the issuer and return; the response to the callback."""
    return client.get(issuer.authorize(leave(client, path, **data)))


def user_of(client: Client) -> int | None:
    return int(client.session["_auth_user_id"]) if "_auth_user_id" in client.session else None
