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
from gateway.parsing.chat import parse_chat
from gateway.parsing.fields import Fields
from gateway.parsing.tools import parse_tools
from routing.api.messages import read_messages
from tests import make
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


def picture(url: str) -> Any:
    return [
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": url}}]}
    ]


def chain(links: int) -> Any:
    """Return a schema whose references lead through all of its definitions, and to no end."""
    definitions = {f"a{number}": {"$ref": f"#/$defs/a{number + 1}"} for number in range(links)}
    return {"$defs": {**definitions, f"a{links}": {"$ref": "#"}}, "$ref": "#/$defs/a0"}


CYCLE = {"$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no-messages": ({"messages": None}, "messages"),
    "empty-messages": ({"messages": []}, "messages"),
    "empty-prompt": ({"messages": [{"role": "user", "content": " \n"}]}, "messages.0.content"),
    "long-prompt": ({"messages": [{"role": "user", "content": "x" * 20_001}]}, "messages.0.content"),
    "long-system": ({"messages": [{"role": "system", "content": "x" * 400_000}, USER]}, "messages"),
    "2000-messages": ({"messages": [USER] * 2_000}, "messages"),
    "unknown-role": ({"messages": [{"role": "king", "content": "x"}]}, "messages.0.role"),
    "no-role": ({"messages": [{"content": "x"}]}, "messages.0.role"),
    "function-role": ({"messages": [{"role": "function", "name": "f", "content": "x"}]}, "messages.0.role"),
    "ends-with-assistant": ({"messages": [USER, {"role": "assistant", "content": "x"}]}, "messages"),
    "message-no-object": ({"messages": ["hello"]}, "messages.0"),
    "content-number": ({"messages": [{"role": "user", "content": 5}]}, "messages.0.content"),
    "no-content": ({"messages": [{"role": "user"}]}, "messages.0.content"),
    "result-without-call": ({"messages": [USER, RESULT]}, "messages.1.tool_call_id"),
    "result-of-another-call": (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, {**RESULT, "tool_call_id": "c2"}]},
        "messages.2.tool_call_id",
    ),
    "call-without-result": (
        {"messages": [USER, {"role": "assistant", "tool_calls": [CALL]}, USER]}, "messages.2.role",
    ),
    "remote-image": ({"messages": picture("https://example.org/cat.png")}, "messages.0.content.1.image_url.url"),
    "file-image": ({"messages": picture("file:///etc/passwd")}, "messages.0.content.1.image_url.url"),
    "text-image": ({"messages": picture("data:text/html;base64,aGk=")}, "messages.0.content.1.image_url.url"),
    "broken-base64": ({"messages": picture("data:image/png;base64,%%%")}, "messages.0.content.1.image_url.url"),
    "no-image-inside": ({"messages": picture("data:image/png;base64,aGk=")}, "messages.0.content.1.image_url.url"),
    "image-for-blind-model": ({"messages": picture(PNG)}, "messages"),
    "system-image": ({"messages": [{**picture(PNG)[0], "role": "system"}, USER]}, "messages.0.content.1.type"),
    "audio-part": (
        {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}, "messages.0.content.0.type",
    ),
    "hot": ({"temperature": 3}, "temperature"),
    "huge-temperature": ({"temperature": 10**400}, "temperature"),
    "temperature-text": ({"temperature": "warm"}, "temperature"),
    "temperature-true": ({"temperature": True}, "temperature"),
    "top-p": ({"top_p": -0.1}, "top_p"),
    "no-tokens": ({"max_tokens": 0}, "max_tokens"),
    "tokens-fraction": ({"max_tokens": 1.5}, "max_tokens"),
    "n-50": ({"n": 50}, "n"),
    "n-2": ({"n": 2}, "n"),
    "stop-5": ({"stop": ["a"] * 5}, "stop"),
    "stop-empty": ({"stop": [""]}, "stop"),
    "seed-text": ({"seed": "x"}, "seed"),
    "stream-text": ({"stream": "yes"}, "stream"),
    "stream-options": ({"stream_options": [1]}, "stream_options"),
    "user-object": ({"user": {}}, "user"),
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
    "cyclic-tool": ({"tools": [tool(CYCLE)]}, "tools.0.function.parameters"),
    "tool-that-is-itself": ({"tools": [tool({"properties": {"a": {"$ref": "#"}}})]}, "tools.0.function.parameters"),
    "long-chain-to-itself": ({"tools": [tool(chain(3_000))]}, "tools.0.function.parameters"),
    "remote-reference": ({"tools": [tool({"$ref": "https://example.org/x"})]}, "tools.0.function.parameters"),
    "deep-tool": ({"tools": [tool(nested(400))]}, ""),
    "tool-name": ({"tools": [tool({}, name="a b")]}, "tools.0.function.name"),
    "two-tools-of-a-name": ({"tools": [tool({}), tool({})]}, "tools"),
    "129-tools": ({"tools": [tool({}, name=f"f{number}") for number in range(129)]}, "tools"),
    "tools-for-simple-model": ({"tools": [tool({})]}, "tools"),
    "choice-without-tools": ({"tool_choice": "auto"}, "tool_choice"),
    "choice-of-no-tool": (
        {"tools": [tool({})], "tool_choice": {"type": "function", "function": {"name": "g"}}},
        "tool_choice.function.name",
    ),
    "format": ({"response_format": {"type": "xml"}}, "response_format.type"),
    "large-format": (
        {"response_format": {"type": "json_schema", "json_schema": {"name": "f", "schema": {"x": "y" * 200_000}}}},
        "response_format",
    ),
    "large-tools": ({"tools": [tool({"x": "y" * 200_000})]}, "tools"),
    "format-without-schema": ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
    "no-model": ({"model": None}, "model"),
    "long-model": ({"model": "x" * 121}, "model"),
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


def test_images_count_in_the_context(send: Callable[..., httpx2.Response], model: Callable[..., Any]):
    small, large = (model(abilities=["images"], context_length=tokens).slug for tokens in (5_000, 32_000))
    seen = picture("data:image/png;base64," + base64.b64encode(pictures.picture()).decode())
    assert refusal(send({"model": small, "messages": seen}))["code"] == "context_length_exceeded"
    assert send({"model": small}).status_code == 200
    assert send({"model": large, "messages": seen}).status_code == 200


def test_route_and_gateway_count_the_same_characters():
    messages = [*picture(PNG), {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT]
    chat = parse_chat({"model": "auto", "messages": messages})
    assert chat.characters == read_messages(messages).characters > 15_000


def test_bad_field_is_named(send: Callable[..., httpx2.Response]):
    for name, (body, param) in BAD.items():
        response = send(body)
        assert (name, response.status_code) == (name, 400), response.text
        error = refusal(response)
        assert (name, error["param"] or "", error["type"]) == (name, param, "invalid_request_error")
    assert not Call.objects.exists()
    assert not Exchange.objects.exists()


def test_bad_json_is_refused(send: Callable[..., httpx2.Response]):
    for name, (body, code) in RAW.items():
        response = send(body)
        assert (name, response.status_code, refusal(response)["code"]) == (name, 400, code)
    assert not Call.objects.exists()


def test_too_large_body_is_refused(send: Callable[..., httpx2.Response]):
    response = send(b" " * 20_200_000)
    assert (response.status_code, refusal(response)["code"]) == (413, "too_large")


def test_five_megabytes_of_text_are_refused(send: Callable[..., httpx2.Response]):
    messages = [{"role": "user", "content": "x" * 19_000}] * 264
    response = send({"messages": messages})
    assert (response.status_code, refusal(response)["code"]) == (400, "too_long")


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
    for text in ("a" * 20_000, "Привет 你好 مرحبا שלום नमस्ते γειά", "\u202e\u0301" * 1_000, '{"$ref": "#"}'):
        response = send({"messages": [{"role": "user", "content": text}]})
        assert response.status_code == 200, response.text
        assert response.json()["choices"][0]["message"]["content"].strip() == text.strip()


class CountedObject(dict[str, Any]):
    """Object that counts how often its values are read."""

    reads = 0

    def values(self) -> Any:
        self.reads += 1
        return super().values()


def test_part_of_a_schema_is_read_once():
    """Many references to one part could else let a member occupy a process for half a minute."""
    part = CountedObject(a=[0, 0])
    names = itertools.islice(itertools.product(("~", "~0"), repeat=12), 500)  # spellings of one name
    references = [{"$ref": f"#/{''.join(name)}"} for name in names]
    parse_tools(Fields({"tools": [tool({"~" * 12: part, "properties": references})]}))
    assert part.reads == 1


def test_token_is_needed(send: Callable[..., httpx2.Response], owner: Any):
    read_only = issue_token(owner, Scope.READ)
    statuses = {
        "none": send({}, headers={}),
        "basic": send({}, headers={"Authorization": "Basic YTpi"}),
        "wrong": send({}, headers={"Authorization": "Bearer arena_wrong"}),
        "cookie": send({}, headers={"Cookie": "sessionid=x; csrftoken=y", "X-CSRFToken": "y"}),
        "scope": send({}, headers={"Authorization": f"Bearer {read_only}"}),
    }
    found = {name: (response.status_code, refusal(response)["code"]) for name, response in statuses.items()}
    unknown = (401, "not_authenticated")
    assert found == {
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
