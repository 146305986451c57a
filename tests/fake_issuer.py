"""Fake issuer of OpenID Connect: a real HTTP server on loopback, which can be told to misbehave."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

SECRET = "a-client-secret-of-the-arena"
EVENT = "http://schemas.openid.net/event/backchannel-logout"


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class FakeIssuer:
    """Signs in the person in `person`.

    changes: claims of every token that replace the right ones; None leaves a claim out.
    sign: makes the token of its claims. replies: raw answers by path, as (status, body) or a function that writes one.
    sign_userinfo: makes userinfo a token, too. public_url: another address than the one that answers, `internal_url`.
    """

    KEY, OTHER_KEY = _new_key(), _new_key()

    def __init__(self, public_url: str = "") -> None:
        self.person: dict[str, Any] = {"sub": "person-1", "email": "ada@example.org", "email_verified": True}
        self.userinfo: dict[str, Any] = {}
        self.changes: dict[str, Any] = {}
        self.sign: Callable[[dict[str, Any]], str] = self.signed
        self.sign_userinfo: Callable[[dict[str, Any]], str] | None = None
        self.replies: dict[str, tuple[int, bytes] | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.requests: Counter[str] = Counter()
        self.headers: dict[str, str] = {}
        self.secret_method = "client_secret_post"
        self.key_id, self.key = "key-1", self.KEY
        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.internal_url = f"http://127.0.0.1:{self._server.server_port}/realms/arena"
        self.url = public_url or self.internal_url
        self.document: dict[str, Any] = {
            "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token", "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }  # fmt: skip
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def settings(self, **more: object) -> dict[str, object]:
        return {
            "key": "company", "name": "Example company", "url": self.url, "client_id": "arena",
            "client_secret": SECRET, "domains": ["example.org"], **more,
        }  # fmt: skip

    @property
    def variables(self) -> dict[str, str]:
        """Return the settings of an arena that starts as a program, without a domain."""
        prefix = "ARENA_SSO_COMPANY_"
        return {
            "ARENA_SSO": "company", f"{prefix}NAME": "Example company", f"{prefix}URL": self.url,
            f"{prefix}CLIENT_ID": "arena", f"{prefix}CLIENT_SECRET": SECRET,
        }  # fmt: skip

    def authorize(self, url: str) -> str:
        """Sign the person in as at the page `url`; return the address that the browser is sent back to."""
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert parameters["response_type"] == "code"
        assert parameters["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self._codes[code] = parameters
        return f"{parameters['redirect_uri']}?{urlencode({'code': code, 'state': parameters['state']})}"

    def signed(self, claims: dict[str, Any], *, key: rsa.RSAPrivateKey | None = None, algorithm: str = "RS256") -> str:
        return jwt.encode(claims, key or self.key, algorithm, headers={"kid": self.key_id})

    def logout_token(self, **changes: Any) -> str:
        claims = {
            "iss": self.url, "aud": "arena", "iat": time.time(), "exp": time.time() + 120,
            "jti": secrets.token_urlsafe(8), "sub": self.person["sub"], "events": {EVENT: {}}, **changes,
        }  # fmt: skip
        return self.sign({name: value for name, value in claims.items() if value is not None})

    def _knows_client(self, form: dict[str, str]) -> bool:
        basic = base64.b64encode(f"arena:{SECRET}".encode()).decode()
        in_header = self.headers.get("Authorization") == f"Basic {basic}"
        in_form = (form.get("client_id"), form.get("client_secret")) == ("arena", SECRET)
        return (in_header, in_form) == ((True, False) if self.secret_method == "client_secret_basic" else (False, True))

    def _token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if not self._knows_client(form):
            return 401, {"error": "invalid_client"}
        parameters = self._codes.pop(form.get("code", ""), None)
        if parameters is None:
            return 400, {"error": "invalid_grant", "error_description": f"not with {SECRET}"}
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == parameters["code_challenge"]
        assert form["redirect_uri"] == parameters["redirect_uri"]
        claims = {
            "iss": self.url, "aud": "arena", "iat": time.time(), "exp": time.time() + 300, "sid": "session-1",
            "nonce": parameters["nonce"], **self.person, **self.changes,
        }  # fmt: skip
        token = self.sign({name: value for name, value in claims.items() if value is not None})
        return 200, {"access_token": "an-access-token", "token_type": "Bearer", "id_token": token}

    def _answer(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {
            "/.well-known/openid-configuration": lambda: (200, self.document),
            "/keys": lambda: (200, {"keys": [{**public, "kid": self.key_id, "use": "sig"}]}),
            "/token": lambda: self._token(form),
            "/userinfo": lambda: (200, self.userinfo),
        }[path]()

    def _handler(issuer) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply({})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._reply({name: values[0] for name, values in parse_qs(body).items()})

            def _reply(self, form: dict[str, str]) -> None:
                path, _, query = self.path.removeprefix("/realms/arena").partition("?")
                issuer.requests[path] += 1
                issuer.headers = dict(self.headers)
                if path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", issuer.authorize(f"?{query}"))
                    self.end_headers()
                    return
                reply, kind = issuer.replies.get(path), "application/json"
                if callable(reply):
                    reply(self)
                    return
                if reply is None:
                    status, payload = issuer._answer(path, form)
                    reply = status, json.dumps(payload).encode()
                if path == "/userinfo" and issuer.sign_userinfo:
                    claims = {"iss": issuer.url, "aud": "arena", **issuer.userinfo}
                    reply, kind = (200, issuer.sign_userinfo(claims).encode()), "application/jwt; charset=utf-8"
                self.send_response(reply[0])
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(reply[1])))
                self.end_headers()
                self.wfile.write(reply[1])

            def log_message(self, *args: object) -> None:
                pass

        return Handler
