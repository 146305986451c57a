"""Bad requests are refused in OpenAI's shape, and no model is called."""

import base64
import itertools
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from accounts.models import Ban, Scope
from battles.models import Call
from gateway.models import Exchange
from gateway.parsing.json_body import MAX_BYTES_AT_ONCE, decode_body
from models_registry.models import Provider
from tests import make
from tests.fake_provider import FakeProvider
from tests.gateway.software import issue_token
from tests.uploads import pictures

pytestmark = pytest.mark.django_db(transaction=True)
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 20).decode()
USER = {"role": "user", "content": "one two"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


def nested(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def tool(parameters: Any, name: str = "f") -> Any:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def part(value: Any) -> Any:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, value]}]}


def picture(url: str) -> Any:
    return part({"type": "image_url", "image_url": {"url": url}})


PART = "messages.0.content.1"
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no-messages": ({"messages": None}, "messages"),
    "empty-messages": ({"messages": []}, "messages"),
    "messages-text": ({"messages": "hello"}, "messages"),
    "no-role": ({"messages": [{"content": "x"}]}, "messages.0.role"),
    "role-number": ({"messages": [{"role": 7, "content": "x"}]}, "messages.0.role"),
    "message-no-object": ({"messages": ["hello"]}, "messages.0"),
    "n-50": ({"n": 50}, "n"),
    "n-2": ({"n": 2}, "n"),
    "stream-text": ({"stream": "yes"}, "stream"),
    "metadata-list": ({"metadata": []}, "metadata"),
    "dial-infinite": ({"metadata": {"dial": "1e400"}}, "metadata.dial"),
    "dial-huge": ({"metadata": {"dial": 10**400}}, "metadata.dial"),
    "dial-nan": ({"metadata": {"dial": "NaN"}}, "metadata.dial"),
    "dial-2": ({"metadata": {"dial": 2}}, "metadata.dial"),
    "dial-list": ({"metadata": {"dial": [1]}}, "metadata.dial"),
    "max-cost": ({"metadata": {"max_cost": "-1"}}, "metadata.max_cost"),
    "max-cost-huge": ({"metadata": {"max_cost": 10**400}}, "metadata.max_cost"),
    "first-token-0": ({"metadata": {"max_first_token_ms": 0}}, "metadata.max_first_token_ms"),
    "first-token-text": ({"metadata": {"max_first_token_ms": "soon"}}, "metadata.max_first_token_ms"),
    "first-token-padded": ({"metadata": {"max_first_token_ms": "0" * 30 + "7"}}, "metadata.max_first_token_ms"),
    "first-token-true": ({"metadata": {"max_first_token_ms": True}}, "metadata.max_first_token_ms"),
    "first-token-huge": ({"metadata": {"max_first_token_ms": 10**400}}, "metadata.max_first_token_ms"),
    "max-cost-infinite": ({"metadata": {"max_cost": "Infinity"}}, "metadata.max_cost"),
    "allow-battle": ({"metadata": {"allow_battle": "maybe"}}, "metadata.allow_battle"),
    "session-id": ({"metadata": {"session_id": 5}}, "metadata.session_id"),
    "deep-tool": ({"tools": [tool(nested(400))]}, ""),
    "tools-text": ({"tools": "f"}, "tools"),
    "513-tools": ({"tools": [tool({}, name=f"f{number}") for number in range(513)]}, "tools"),
    "51-pictures": ({"messages": picture(PNG)["messages"] * 51}, "messages"),
    "long-prompt": ({"messages": [{"role": "user", "content": "x" * 2_000_001}]}, "messages"),
    "long-schema": ({"tools": [tool({"description": "x" * 2_000_001})]}, "messages"),
    "choice-of-a-server-tool": (
        {"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, "tool_choice",
    ),
    "required-server-tool": ({"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
    "file-id": (part({"type": "file", "file": {"file_id": "file-1"}}), PART),
    "no-model": ({"model": None}, "model"),
    "long-model": ({"model": "x" * 121}, "model"),
}  # fmt: skip
ADDRESSES = {
    "file": "file:///etc/passwd", "file-path": "/etc/passwd", "ftp": "ftp://example.org/a.png",
    "bucket": "gs://bucket/a.png", "script": "javascript:alert(1)", "loopback": "http://127.0.0.1/a.png",
    "localhost": "http://localhost:8000/a.png", "private": "https://192.168.1.1/a.png", "ten": "http://10.0.0.8/a.png",
    "metadata": "http://169.254.169.254/latest/meta-data", "number": "http://2130706433/a.png",
    "hexadecimal": "http://0x7f000001/a.png", "short": "http://127.1/a.png", "octal": "http://0177.0.0.1/a.png",
    "ipv6": "http://[::1]/a.png", "mapped": "http://[::ffff:10.0.0.1]/a.png", "user": "http://example.org@10.0.0.1/",
    "wide": "http://１２７.0.0.1/a.png", "other-dots": "http://127。0。0。1/a.png", "one-name": "http://intranet/a.png",
    "internal": "http://db.internal/a.png", "mdns": "http://nas.local/a.png", "dot": "http://localhost./a.png",
    "blank": "http://exa mple.org/a.png", "backslash": "http:\\\\10.0.0.1/a.png", "encoded": "http://127.0.0.%31/",
    "no-host": "https:///a.png", "protocol-relative": "//example.org/a.png", "new-line": "ht\ntp://10.0.0.1/",
}  # fmt: skip
RAW: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "invalid_json"),
    "list": (b"[]", "invalid_value"),
    "half": (b'{"model": "a"', "invalid_json"),
    "nan": (b'{"model": "MODEL", "messages": [{"role": "user", "content": "x"}], "temperature": NaN}', "invalid_json"),
    "huge-number": (
        b'{"model": "MODEL", "messages": [{"role": "user", "content": "x"}], "temperature": 1e400}', "invalid_json",
    ),
    "nul": (b'{"model": "MODEL", "messages": [{"role": "user", "content": "a\\u0000b"}]}', "invalid_characters"),
    "nul-in-name": (b'{"model": "MODEL", "messages": [], "\\u0000": 1}', "invalid_characters"),
    "surrogate": (b'{"model": "MODEL", "messages": [{"role": "user", "content": "\\ud800"}]}', "invalid_json"),
    "not-utf-8": (b'{"model": "\xff"}', "invalid_json"),
    "deep": (b"[" * 100_000, "too_deep"),
    "deep-in-a-large-body": (b'{"model": "' + b"x" * 600_000 + b'", "messages": ' + b"[" * 100_000, "too_deep"),
    "many-values": (b'{"model": "MODEL", "messages": [' + b"[]," * 200_000 + b"[]]}", "too_many_values"),
    "many-values-in-a-message": (
        b'{"model": "MODEL", "messages": [{"role": "user", "content": [' + b"[]," * 5_000_000 + b"[]]}]}",
        "too_many_values",
    ),
    "many-texts": (b'{"model": "MODEL", "messages": [' + b'"",' * 900_000 + b'""]}', "too_many_values"),
}  # fmt: skip


@pytest.fixture
def send(address: str, token: str, model: Callable[..., Any]) -> Callable[..., httpx2.Response]:
    slug = model().slug
    headers = {"Authorization": f"Bearer {token}"}

    def send(body: dict[str, Any] | bytes = b"", **options: Any) -> httpx2.Response:
        if isinstance(body, dict):
            body = json.dumps({"model": slug, "messages": [USER], **body}).encode()
        body = body.replace(b"MODEL", slug.encode())
        url = f"{address}/v1/chat/completions"
        return httpx2.request("POST", url, content=body, **{"headers": headers, "timeout": 60, **options})

    return send


def refusal(response: httpx2.Response) -> dict[str, Any]:
    body = response.json()
    assert list(body) == ["error"]
    assert set(body["error"]) == {"message", "type", "param", "code"}
    assert body["error"]["message"]
    return body["error"]


def test_images_count_in_the_context_of_auto(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], settings: Any
):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    small, large = (model(abilities=["images"], context_length=n, weight=9 - n / 9_000).slug for n in (5_000, 32_000))
    seen = picture("data:image/png;base64," + base64.b64encode(pictures.picture()).decode())
    assert send({"model": "auto", **seen}).headers["X-Arena-Model"] == large
    assert send({"model": "auto"}).headers["X-Arena-Model"] == small
    assert send({"model": small, **seen}).status_code == 200  # its server judges


def test_prompt_over_any_context_is_refused(send: Callable[..., httpx2.Response], model: Callable[..., Any]):
    prompt = {"messages": [{"role": "user", "content": "x" * 9_000}]}
    assert refusal(send({"model": model(context_length=1_000).slug, **prompt}))["code"] == "context_length_exceeded"
    assert send({"model": model(context_length=3_000).slug, **prompt}).status_code == 200


def test_bad_field_is_named(send: Callable[..., httpx2.Response]):
    for name, (body, param) in BAD.items():
        response = send(body)
        assert (name, response.status_code) == (name, 400), response.text
        error = refusal(response)
        assert (name, error["param"] or "", error["type"]) == (name, param, "invalid_request_error")
    assert not Call.objects.exists()
    assert not Exchange.objects.exists()


def test_private_and_odd_addresses_are_refused(
    send: Callable[..., httpx2.Response], model: Callable[..., Any], fake_provider: FakeProvider
):
    slug = model().slug
    Provider.objects.update(base_url="https://models.example.org/v1", fetches_media=True)
    kinds = {
        "image_url": lambda url: {"type": "image_url", "image_url": {"url": url}},
        "image_url-text": lambda url: {"type": "image_url", "image_url": url},
        "video": lambda url: {"type": "video_url", "video_url": {"url": url}},
        "unknown": lambda url: {"type": "x", "y": [{"source": {"type": "url", "url": url}}]},
        "in-a-result": lambda url: {"type": "tool_result", "content": [{"type": "image", "source": {"url": url}}]},
    }
    for (name, url), (kind, made) in itertools.product(ADDRESSES.items(), kinds.items()):
        response = send({"model": slug, **part(made(url))})
        assert (name, kind, response.status_code) == (name, kind, 400), response.text
        assert refusal(response)["param"] == PART
    assert not fake_provider.requests


def test_limits_of_requests_are_settings(send: Callable[..., httpx2.Response], settings: Any):
    settings.ARENA_GATEWAY_CHARACTERS, settings.ARENA_GATEWAY_PICTURES, settings.ARENA_GATEWAY_TOOLS = 100, 1, 1
    text = {"messages": [{"role": "user", "content": "x" * 100}]}
    assert send(text).status_code == 200
    assert send({**text, "stop": "y"}).status_code == 400
    assert send({**text, "tools": [tool({})]}).status_code == 400
    assert send({"tools": [tool({})] * 2}).status_code == 400
    two = picture(PNG)["messages"] * 2
    assert send({"messages": two}).status_code == 400
    assert send({"messages": two[:1]}).status_code == 200


def test_large_body_is_decoded_as_a_small_one():
    text = 'a,[{"\\\\" é\\n' * 20
    message = {"role": "user", "content": [{"type": "text", "text": text}], "x": [1, None, True, 1.5, {}]}
    body = {
        "model": "m",
        "messages": [message] * 9_000,
        "stop": ["a", {}],
        "seed": 7,
        "tools": [],
        "metadata": {"a": []},
    }
    encoded = json.dumps(body, indent=1, ensure_ascii=False).encode()
    assert len(encoded) > MAX_BYTES_AT_ONCE
    assert decode_body(encoded) == body


def test_commas_in_texts_are_no_values():
    body = {"messages": [{"role": "user", "content": "a, b, c, d, e, f"}] * 40_000}
    assert decode_body(json.dumps(body).encode()) == body
    one = {"messages": [{"role": "user", "content": "[a, b], " * 150_000}]}
    assert decode_body(json.dumps(one).encode()) == one


def test_bad_json_is_refused(send: Callable[..., httpx2.Response]):
    for name, (body, code) in RAW.items():
        response = send(body)
        assert (name, response.status_code, refusal(response)["code"]) == (name, 400, code)
    assert not Call.objects.exists()


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages", "messages/count_tokens"])
def test_every_door_reads_bodies_up_to_the_limit(address: str, token: str, path: str):
    for megabytes, status in ((15, 400), (17, 413)):
        headers = {"Authorization": f"Bearer {token}"}
        content = b"{}" + b" " * megabytes * 1_000_000
        response = httpx2.post(f"{address}/v1/{path}", content=content, headers=headers, timeout=60)
        assert (megabytes, response.status_code) == (megabytes, status)


def test_too_large_body_is_refused(send: Callable[..., httpx2.Response]):
    response = send(b" " * 16_200_000)
    assert (response.status_code, refusal(response)["code"]) == (413, "too_large")


def test_unavailable_model_is_not_found(send: Callable[..., httpx2.Response], model: Callable[..., Any]):
    hidden = [model(status=status).slug for status in ("draft", "paused", "retired")]
    for name in ("gpt-none", "../x", *hidden):
        response = send({"model": name})
        assert (response.status_code, refusal(response)["code"]) == (404, "model_not_found")
    assert not Call.objects.exists()


# “Thank you” in forty languages.
THANKS = """
    thank you|merci|danke|gracias|grazie|obrigado|dank je|tack|tak|kiitos|aitäh|paldies|ačiū|dziękuję|děkuji|ďakujem|
    köszönöm|mulțumesc|благодаря|спасибо|дякую|хвала|hvala|ευχαριστώ|teşekkürler|شكرا|תודה|متشکرم|धन्यवाद|ধন্যবাদ|
    நன்றி|ధన్యవాదాలు|ขอบคุณ|cảm ơn|terima kasih|谢谢|ありがとう|감사합니다|asante|አመሰግናለሁ
"""


@pytest.mark.slow
def test_prompts_of_forty_languages_are_answered(send: Callable[..., httpx2.Response]):
    thanks = [text.strip() for text in THANKS.split("|")]
    assert len(set(thanks)) == 40
    for text in thanks:
        response = send({"messages": [{"role": "user", "content": text}]})
        assert (text, response.status_code) == (text, 200)
        assert response.json()["choices"][0]["message"]["content"] == f"{text} "


def test_unusual_prompts_are_answered(send: Callable[..., httpx2.Response]):
    for text in ("a" * 25_000, "Привет 你好 مرحبا שלום नमस्ते γειά", "\u202e\u0301" * 1_000, '{"$ref": "#"}'):
        response = send({"messages": [{"role": "user", "content": text}]})
        assert response.status_code == 200, response.text
        assert response.json()["choices"][0]["message"]["content"].strip() == text.strip()


def test_token_is_needed(send: Callable[..., httpx2.Response], owner: Any):
    read_only = issue_token(owner, Scope.READ)
    statuses = {
        "none": send({}, headers={}),
        "basic": send({}, headers={"Authorization": "Basic YTpi"}),
        "wrong": send({}, headers={"Authorization": "Bearer arena_wrong"}),
        "cookie": send({}, headers={"Cookie": "sessionid=x; csrftoken=y", "X-CSRFToken": "y"}),
        "scope": send({}, headers={"Authorization": f"Bearer {read_only}"}),
    }
    refusals = {name: (response.status_code, refusal(response)["code"]) for name, response in statuses.items()}
    unknown = (401, "not_authenticated")
    assert refusals == {
        "none": unknown, "basic": unknown, "wrong": unknown, "cookie": unknown, "scope": (403, "permission_denied"),
    }  # fmt: skip
    assert statuses["none"].headers["WWW-Authenticate"] == "Bearer"


def test_signed_in_browser_has_no_access(address: str, owner: Any):
    browser = make.browser(owner)
    response = browser.get("/v1/models")
    assert (response.status_code, response.json()["error"]["type"]) == (401, "authentication_error")


def test_banned_member_is_refused(send: Callable[..., httpx2.Response], owner: Any):
    Ban.objects.create(user=owner.user, reason="spam")
    response = send({})
    assert (response.status_code, refusal(response)["code"]) == (403, "banned")


def test_limit_names_the_wait(send: Callable[..., httpx2.Response], settings: Any):
    settings.ARENA_LIMITS = {**settings.ARENA_LIMITS, ("gateway", "member"): "2/hour"}
    responses = [send({}) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert refusal(responses[2])["type"] == "rate_limit_error"
    assert int(responses[2].headers["Retry-After"]) > 0
    assert responses[1].headers["RateLimit-Remaining"] == "0"


def test_other_methods_and_addresses_are_refused(send: Callable[..., httpx2.Response], address: str, token: str):
    headers = {"Authorization": f"Bearer {token}"}
    wrong_method = httpx2.get(f"{address}/v1/chat/completions", headers=headers)
    assert (wrong_method.status_code, refusal(wrong_method)["code"]) == (405, "method_not_allowed")
    for path in ("embeddings", "chat/completions/", "models/a%00b"):
        response = httpx2.post(f"{address}/v1/{path}", headers=headers, content=b"{}")
        assert response.status_code in (404, 405), path
        refusal(response)


def test_other_sites_may_call_with_a_token(address: str, settings: Any):
    settings.CORS_ALLOWED_ORIGINS = ["https://app.example"]
    headers = {
        "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-stainless-os",
    }  # fmt: skip
    response = httpx2.request("OPTIONS", f"{address}/v1/chat/completions", headers=headers)
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"
    assert "authorization" in response.headers["Access-Control-Allow-Headers"]
