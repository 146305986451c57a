"""Refused API requests get JSON of one shape; CORS."""

import pytest
from django.http.response import ResponseHeaders
from django.test import Client

from battles.api.views import SessionViewSet
from tests import make

pytestmark = pytest.mark.django_db
SESSIONS = "/api/v1/sessions/"


@pytest.fixture
def program() -> Client:
    return make.api(raise_request_exception=False)


@pytest.mark.parametrize("path", ["/api/v1/nothing/", "/api/v1/sessions", "/api/v2/models/", "/api/", "/api/v1/"])
@pytest.mark.parametrize("method", ["get", "post", "delete", "options"])
def test_unknown_api_path_returns_404_json(program: Client, method: str, path: str):
    refused = getattr(program, method)(path)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


def test_unsupported_method_returns_405(program: Client):
    refused = program.put(SESSIONS, {}, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (405, "method_not_allowed")
    assert refused["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert program.options(SESSIONS).status_code == 405


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]
)
def test_other_media_type_returns_415(program: Client, media_type: str):
    refused = program.post(SESSIONS, b"prompt=one", media_type)
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"nonsense", b'{"prompt": NaN}', b'{"prompt": Infinity}', b"\xff\xfe", b'"\xed\xa0\x80"',
        b"[" * 100_000, b'{"a":' * 100_000, b"[1]", b'"prompt"', b"null", b"9" * 5_000,
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "media_type", ["application/json", "application/json; charset=rot13", "application/json; charset=utf-7"]
)
def test_invalid_json_object_returns_400(program: Client, body: bytes, media_type: str):
    refused = program.generic("POST", SESSIONS, body, media_type)
    assert refused.status_code == 400
    assert set(refused.json()) <= {"code", "detail", "fields"}


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
@pytest.mark.parametrize("odd", ["\\u0000", "\\ud800"])
@pytest.mark.parametrize(
    "body",
    [
        '{"prompt": "p", "filters": {"ODD": 1}}',
        '{"prompt": "p", "mode": "ODD"}',
        '{"prompt": "p", "models": ["ODD"], "mode": "direct"}',
    ],
)
def test_refusal_quoting_unstorable_text_can_be_repeated(program: Client, body: str, odd: str, headers: dict[str, str]):
    """Such text can neither be encoded nor stored for a repeated request."""
    for _ in range(2):
        refused = program.generic("POST", SESSIONS, body.replace("ODD", odd), "application/json", headers=headers)
        assert refused.status_code == 400, refused.text


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k"}])
def test_too_large_body_returns_413(program: Client, headers: dict[str, str]):
    refused = program.post(SESSIONS, b'{"prompt": "' + b"x" * 1_000_000 + b'"}', "application/json", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html", "application/xml", "nonsense"])
def test_accept_header_does_not_change_format(program: Client, accept: str):
    read = program.get("/api/v1/models/", headers={"Accept": accept})
    assert (read.status_code, read["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize("path", ["/api/v1/models/%00/", "/s/a%00b/", "/leaderboard/models/%00/"])
def test_nul_byte_in_path_returns_404(program: Client, path: str):
    assert program.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/api/v1/leaderboard/history/?board=%00&models=a", "/api/v1/leaderboard/head-to-head/?a=%00&b=c", "/?x=%00"],
)
def test_nul_byte_in_query_returns_400(program: Client, path: str):
    refused = program.get(path)
    assert refused.status_code == 400
    assert path.startswith("/?") or refused.json()["code"] == "invalid"


@pytest.mark.parametrize(
    "path", ["leaderboard/history/", "leaderboard/head-to-head/", "leaderboard/?as=pdf", "models/?limit=0"]
)
def test_invalid_field_error_is_also_the_detail(program: Client, path: str):
    refused = program.get(f"/api/v1/{path}").json()
    [[sentence]] = refused["fields"].values()
    assert (refused["code"], refused["detail"]) == ("invalid", sentence)


def test_server_error_is_json_without_details(program: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SessionViewSet, "list", lambda *_, **__: 1 // 0)
    broken = program.get(SESSIONS)
    assert (broken.status_code, broken.json()["code"]) == (500, "server_error")
    assert "division" not in broken.text


def test_unknown_host_returns_400_json(program: Client):
    refused = program.get("/api/v1/models/", headers={"Host": "evil.example"})
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid")


@pytest.mark.parametrize("path", ["models/", "sessions/", "boards/", "leaderboard/snapshots/"])
@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=-1", "limit=x", "limit=", "offset=-1", f"offset={10**30}", "limit=٣"],
)
def test_out_of_range_page_returns_400(program: Client, path: str, query: str):
    refused = program.get(f"/api/v1/{path}?{query}")
    assert (refused.status_code, list(refused.json()["fields"])) == (400, [query.partition("=")[0]])


def test_list_pages_link_to_each_other(client: Client):
    names = [make.model(name=f"M{number}").slug for number in range(3)]
    first = client.get("/api/v1/models/?limit=2").json()
    second = client.get(first["next"]).json()
    assert (first["count"], first["previous"], second["next"]) == (3, None, None)
    assert sorted(model["id"] for page in (first, second) for model in page["results"]) == sorted(names)
    assert client.get(second["previous"]).json()["results"] == first["results"]


def preflight(client: Client, path: str, origin: str = "https://app.example") -> ResponseHeaders:
    preflight_headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    }
    return client.options(path, headers=preflight_headers).headers


def test_unlisted_origin_gets_no_cors_headers(client: Client):
    assert not any(name.lower().startswith("access-control") for name in preflight(client, SESSIONS))


def test_listed_origin_may_send_tokens_but_no_cookies(client: Client, settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    allowed = preflight(client, SESSIONS)
    assert allowed["Access-Control-Allow-Origin"] == "https://app.example"
    assert {"authorization", "content-type", "idempotency-key", "last-event-id"} <= set(
        allowed["Access-Control-Allow-Headers"].split(", ")
    )
    assert "Access-Control-Allow-Credentials" not in allowed
    read = client.get("/api/v1/models/", headers={"Origin": "https://app.example"})
    assert (read["Access-Control-Allow-Origin"], read["Access-Control-Expose-Headers"]) == (
        "https://app.example",
        "Retry-After, RateLimit, RateLimit-Policy, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
        "X-Request-ID, X-Arena-Battle, X-Arena-Cached, X-Arena-Decision, X-Arena-Dropped, X-Arena-Fallback, "
        "X-Arena-Model, X-Arena-Reason",
    )


def test_cors_is_limited_to_listed_origins_and_the_api(client: Client, settings):
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    assert "Access-Control-Allow-Origin" not in preflight(client, SESSIONS, origin="https://evil.example")
    assert "Access-Control-Allow-Origin" not in preflight(client, "/accounts/tokens/")
