"""allauth's OpenID Connect with verified tokens, a nonce, and guarded requests.

allauth (65.21) has no nonce, does not verify signatures of tokens that it fetched, believes the issuer name in the
document, and lets requests add parameters and scopes.
"""

import logging
from base64 import b64encode
from typing import cast
from urllib.parse import quote_plus

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Client
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import build_absolute_uri
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import get_random_string

from accounts.single_sign_on import connections, discovery, tokens
from accounts.single_sign_on.errors import CodeRefused, StateInvalid
from accounts.single_sign_on.identity import RIGHTS_KEY, Identity, read_identity
from accounts.single_sign_on.issuers import Issuer, issuer_by
from common.payload_types import JsonObject
from common.text.redaction import mask_secret

logger = logging.getLogger(__name__)

MAX_CODE_LENGTH = 4000


def app_of(issuer: Issuer) -> SocialApp:
    """Accounts are stored under the URL: a key may get another issuer."""
    return SocialApp(
        provider="openid_connect", provider_id=issuer.url, name=issuer.name, client_id=issuer.client_id,
        secret=issuer.client_secret, settings={"oauth_pkce_enabled": True, "scope": issuer.scope.split()},
    )  # fmt: skip


class Client(OAuth2Client):  # type: ignore[misc]
    issuer: Issuer

    def get_redirect_url(self, authorization_url: str, scope: list[str], extra_params: JsonObject) -> str:
        """Keep an endpoint's query: allauth would repeat its question mark."""
        address, _, query = authorization_url.partition("?")
        url: str = super().get_redirect_url(address, scope, extra_params)
        return f"{url}&{query}" if query else url

    def get_access_token(self, code: str, pkce_code_verifier: str = "", extra_data: object = None) -> JsonObject:
        """Exchange the code. Raises CodeRefused, and as connections.fetch."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.callback_url}
        form["code_verifier"] = pkce_code_verifier
        answer = self._exchange(form, in_header=self.basic_auth)
        if answer.body.get("error") == "invalid_client" and discovery.endpoints(self.issuer).takes_both_ways:
            answer = self._exchange(form, in_header=not self.basic_auth)  # the client is registered with one of them
        if answer.status != 200 or "access_token" not in answer.body:
            problem = {name: answer.body.get(name) for name in ("error", "error_description")}
            text = mask_secret(self.consumer_secret, f"{problem}".encode()).decode()
            logger.warning("issuer %s refuses a code: HTTP %d, %.300s", self.issuer.key, answer.status, text)
            raise CodeRefused(self.issuer)
        return answer.body

    def _exchange(self, form: dict[str, str], *, in_header: bool) -> connections.Answer:
        secret = self.consumer_secret
        if in_header and secret:
            headers = {"Authorization": _basic(self.consumer_key, secret)}
            return connections.fetch(self.issuer, self.access_token_url, form=form, headers=headers)
        form = {**form, "client_id": self.consumer_key} | ({"client_secret": secret} if secret else {})
        return connections.fetch(self.issuer, self.access_token_url, form=form)


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    client_class = Client
    nonce = ""

    def __init__(self, request: HttpRequest, provider_id: str) -> None:
        super().__init__(request, provider_id)
        self.issuer = cast(Issuer, issuer_by(url=provider_id))

    @property
    def openid_config(self) -> JsonObject:
        raise NotImplementedError("endpoints come from accounts.single_sign_on.discovery")

    @property
    def basic_auth(self) -> bool:
        return discovery.endpoints(self.issuer).secret_in_header

    @property
    def access_token_url(self) -> str:
        return discovery.endpoints(self.issuer).token

    @property
    def authorize_url(self) -> str:
        return discovery.endpoints(self.issuer).authorization

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return str(build_absolute_uri(request, reverse("openid_connect_callback", args=[self.issuer.key])))

    def get_client(self, request: HttpRequest, app: SocialApp) -> Client:
        client: Client = super().get_client(request, app)
        client.issuer = self.issuer
        return client

    def parse_token(self, data: JsonObject) -> SocialToken:
        return SocialToken()  # access tokens are neither used later nor stored

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, *, response: JsonObject
    ) -> SocialLogin:
        access_token = response["access_token"]
        claims = tokens.id_token_claims(
            self.issuer, response.get("id_token"), nonce=self.nonce, access_token=access_token
        )  # fmt: skip
        identity = read_identity(self.issuer, claims, access_token)
        login = self.get_provider().sociallogin_from_response(request, identity)
        login.identity = identity
        return login


class Callback(OAuth2CallbackView):  # type: ignore[misc]
    def _get_state(self, request: HttpRequest, provider: "Provider") -> tuple[JsonObject, None]:
        """Use the state up. Raises StateInvalid."""
        issuer = self.adapter.issuer
        if len(request.GET.get("code", "")) > MAX_CODE_LENGTH:
            raise StateInvalid(issuer)
        state, _refusal = super()._get_state(request, provider)
        named = request.GET.get("iss")
        if named not in issuer.names and (named is not None or discovery.endpoints(issuer).names_issuer):
            raise StateInvalid(issuer)  # the browser comes from another issuer (RFC 9207)
        self.adapter.nonce = state.get("nonce", "")
        return state, None


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = Adapter

    def leave_for_issuer(self, request: HttpRequest, *, process: str, next_url: str | None) -> str:
        """Store a new state; return the issuer's address."""
        nonce = get_random_string(32)
        response: HttpResponse = self.redirect(
            request, process, next_url, auth_params={"nonce": nonce}, nonce=nonce
        )  # fmt: skip
        return response["Location"]

    def serialize(self) -> dict[str, str]:
        return {"id": self.app.provider_id}  # two issuers may have given the arena the same client id

    def extract_uid(self, identity: Identity) -> str:
        return identity.subject

    def extract_extra_data(self, identity: Identity) -> JsonObject:
        """Keep the rights that the issuer gave: allauth replaces the column at each sign-in."""
        account = SocialAccount.objects.filter(provider=identity.issuer.url, uid=identity.subject).first()
        rights = account.extra_data.get(RIGHTS_KEY) if account is not None else None
        return {"email": identity.email} | ({RIGHTS_KEY: rights} if rights else {})

    def extract_common_fields(self, identity: Identity) -> JsonObject:
        return {"email": identity.email}

    def extract_email_addresses(self, identity: Identity) -> list[EmailAddress]:
        is_verified = identity.is_verified or identity.issuer.trusts_addresses
        address = EmailAddress(email=identity.email, verified=is_verified, primary=True)
        return [address] if identity.email else []


def _basic(client_id: str, secret: str) -> str:
    """Return the header of RFC 6749: both parts are form-encoded first."""
    pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {b64encode(pair.encode()).decode()}"
