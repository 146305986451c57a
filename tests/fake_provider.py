"""Fake provider: a real HTTP server whose behaviour depends on the model's name.

honest            repeats the prompt's words, and the format and size of each picture, with usage and a finish reason
honest-<anything> the same
slow              the same, 50 ms between words
steady            the same, 5 ms between words
late              the same, after a second of silence
patient           the same, after the test calls `go_on`
long              800 words, 5 ms between them
cut-after-<n>     n words, then the connection breaks
hang-after-<n>    n words, then silence
no-finish         every word, then a clean end without finish reason or [DONE]
comments          keep-alive comments without end
html, json-error, empty, redirect, malformed, status-<code>, leak
thinks-first      sends reasoning before the answer
indiscreet        repeats the key of the request: in pieces, as its reasoning, request id and finish reason
indiscreet-<code> the same in a refusal
endless-refusal   HTTP 500 whose body has no end
busy-once-<code>  refuses the first request only, with a short Retry-After
later-<seconds>   HTTP 429 with this Retry-After
calls-tools       calls the first tool of the request twice, then repeats the words of the last result
growing           as honest, with the usage so far in every chunk
judges            as honest, but fails prompts that begin with a word of JUDGED
hypocrite         answers the neutral question of a breaker, and rejects every other prompt
length-alone      ends by the cap without a text
thinks-aloud      reasons in tags unless its template's thinking is off
buffered          sends a whole completion, and a stream at /direct/v1
stateful          every name in tests/worlds/stateful.py calls a tool, and wants the call's state back with its result
patient-<code>    this status, after the test calls `go_on`
wordy-<code>      refuses with WORDS
picky-<part>      refuses requests with this part, see tests/worlds/picky.py
late-picky-<part> the same by an event of a stream
every name in tests/provider_streams.py, tests/worlds/oddities.py and tests/worlds/judges.py

Models that repeat the prompt's words wait before the word ⏸ until the test calls `go_on`.

As a moderation endpoint it finds violence in texts with "knife" (score 0.9). Models there: silent, html, empty,
redirect, status-<code>, yes-or-no (no scores), and any other.

For its list of models see tests/worlds/model_list.py.
"""

import asyncio
import base64
import io
import json
import threading
from collections import Counter
from typing import Any

from aiohttp import web
from PIL import Image

from tests.provider_streams import DONE, STREAMS, Step, event, write
from tests.worlds.judges import JUDGES
from tests.worlds.model_list import CANARY, FakeModelList
from tests.worlds.oddities import ODDITIES, Odd
from tests.worlds.picky import PICKY, refusal_of
from tests.worlds.stateful import STATEFUL, refusal_of_second_turn

PAUSE = "⏸"
# The first word of a prompt: status and message of its refusal.
JUDGED: dict[str, tuple[int, str]] = {
    "too": (400, "the prompt exceeds the maximum context length"),
    "bad": (400, "cannot do this"),
    "filtered": (400, "flagged by our content policy"),
    "crash": (500, "boom"),
    "forbidden": (403, "not for you"),
}
PACKET_BYTES = 200
# A refusal that is about the request, and names the arena's account and the server.
WORDS = (
    "tools.3.name: must match ^[a-z]+$ for organization org-AbCdEf123456, project proj_x1y2z3w4, user-77fgh12345 "
    "at http://10.1.2.3:8000/v1 (https://canary.example.com/docs), node-7.internal:9000, admin@canary.example.com, "
    "key sk-canary-0123456789abcdef."
)
UPLOADED = ("data:image/png;base64,", "data:image/jpeg;base64,")
SMALLEST_PICTURE = 60  # characters; tests send shorter data that is none


def _format_and_size(data_url: str) -> str:
    _, _, encoded = data_url.partition(",")
    if len(encoded) < SMALLEST_PICTURE:
        return "picture"
    with Image.open(io.BytesIO(base64.b64decode(encoded, validate=True))) as picture:
        return f"{picture.format} {picture.width}x{picture.height}"


def _everything(model: str) -> dict[str, Any]:
    """Return a delta with the model's name in every field that servers have beside the text."""
    told = f"{model} {CANARY}"
    detail = {"type": "reasoning.text", "text": told, "signature": told, "format": told, "id": told}
    return {
        "role": "assistant", "name": told, "reasoning_content": told, "reasoning": told, "reasoning_details": [detail],
        "thinking_blocks": [{"type": "thinking", "thinking": told, "signature": told}], "extra_content": {told: told},
        "annotations": [{"title": told}], "audio": {"id": told}, told: told,
    }  # fmt: skip


class FakeProvider(FakeModelList):
    """Runs in a thread of its own; `calls` counts requests by model, `requests` and `headers` keep their content."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.moderated: list[dict[str, Any]] = []
        self.words_sent = 0
        self.paused = 0  # answers that wait at a PAUSE
        self._loop = asyncio.new_event_loop()
        self._goes_on = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> "FakeProvider":
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def go_on(self) -> None:
        """Release all answers that wait at a ⏸, until `forget` is called."""
        self._loop.call_soon_threadsafe(self._goes_on.set)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def forget(self) -> None:
        self._loop.call_soon_threadsafe(self._goes_on.clear)  # on the loop, after an earlier `go_on`
        self.words_sent = 0
        self.calls.clear()
        self.requests.clear()
        self.headers.clear()
        self.moderated.clear()
        self.forget_list()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._open())
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())

    async def _open(self) -> None:
        app = web.Application()
        for address in ("/v1/chat/completions", "/{another_door}/v1/chat/completions"):
            app.router.add_post(address, self._complete)
        app.router.add_post("/v1/moderations", self._moderate)
        self.add_list(app)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self._ready.set()

    async def _moderate(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.moderated.append(body)
        match body.get("model", ""):
            case "silent":
                await asyncio.sleep(3600)
            case "html":
                return web.Response(text="<h1>hello</h1>", content_type="text/html")
            case "empty":
                return web.json_response({"results": []})
            case "redirect":
                raise web.HTTPTemporaryRedirect("/v1/elsewhere")
            case "yes-or-no":
                results = [{"flagged": True, "categories": {"violence": "knife" in text}} for text in body["input"]]
                return web.json_response({"results": results})
            case model if model.startswith("status-"):
                words = f"no {request.headers.get('Authorization')}"
                return web.json_response({"error": {"message": words}}, status=int(model[7:]))
        scores = [{"violence": 0.9 if "knife" in text else 0.01, "hate": 0.02} for text in body["input"]]
        results = [{"flagged": False, "category_scores": scored} for scored in scores]
        return web.json_response({"id": "m-1", "model": "judge-2026-11", "results": results})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        model = body["model"]
        self.calls[model] += 1
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        if model.startswith("status-"):
            headers = {"Retry-After": "0.05", "X-Upstream": CANARY}
            return web.json_response({"error": {"message": f"no {CANARY}"}}, status=int(model[7:10]), headers=headers)
        if model in ("judges", "hypocrite") and (judged := self._judge(model, body)):
            return web.json_response({"error": {"message": judged[1]}}, status=judged[0])
        picky = model.removeprefix("late-")
        if picky in PICKY and (refused := refusal_of(picky, body)):
            if picky != model:
                return await self._perform(request, [write(event({"role": "assistant"}), event(**refused[1]))])
            return web.json_response(refused[1], status=refused[0])
        if model.startswith("indiscreet"):
            return await self._reveal_key(request, model)
        if model.startswith("busy-once-") and self.calls[model] == 1:
            return web.json_response({"error": {}}, status=int(model[10:]), headers={"Retry-After": "0.05"})
        if model.startswith("later-"):
            return web.json_response({"error": {}}, status=429, headers={"Retry-After": model[6:]})
        if model == "endless-refusal":
            return await self._perform(request, STREAMS["endless-line"], status=500)
        if model == "thinks-aloud" and body.get("chat_template_kwargs", {}).get("enable_thinking", True):
            return await self._send(request, ODDITIES["odd-tag"])
        if model == "buffered" and not request.path.startswith("/direct/"):
            return await self._send(request, ODDITIES["odd-whole"])
        if model in ODDITIES:
            return await self._send(request, ODDITIES[model])
        if model in STREAMS:
            return await self._perform(request, STREAMS[model])
        if model == "html":
            return web.Response(text="<h1>hello</h1>", content_type="text/html")
        if model == "json-error":
            return web.json_response({"error": {"message": "quota"}})
        if model == "redirect":
            raise web.HTTPTemporaryRedirect("/v1/elsewhere")
        if model.startswith("patient-"):
            await self._goes_on.wait()
            return web.json_response({"error": {"message": "no, after a while"}}, status=int(model[8:]))
        if model.startswith("wordy-"):
            key = request.headers["Authorization"].removeprefix("Bearer ")
            words = {"message": f"{WORDS} The key was {key}."}
            return web.json_response({"error": words}, status=int(model[6:]))
        if model in STATEFUL:
            return await self._call_with_state(request, body, model)
        if model == "calls-tools" and body["messages"][-1]["role"] != "tool":
            return await self._call_tools(request, body)
        return await self._stream(request, body, model)

    def _judge(self, model: str, body: dict[str, Any]) -> tuple[int, str] | None:
        prompt = self._prompt_text(body["messages"][-1].get("content"))
        if model == "hypocrite":
            return None if prompt == "Reply with OK." else JUDGED["bad"]
        return JUDGED.get(prompt.split(" ")[0])

    async def _perform(self, request: web.Request, steps: list[Step], status: int = 200) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        for step in steps:
            await step(request, response)
        return response

    async def _send(self, request: web.Request, odd: Odd) -> web.StreamResponse:
        response = web.StreamResponse(status=odd.status, headers=odd.headers)
        if "Content-Type" not in odd.headers:
            response.headers["Content-Type"] = ""
        await response.prepare(request)
        for at in range(0, len(odd.body), PACKET_BYTES):
            await response.write(odd.body[at : at + PACKET_BYTES])
        if odd.stays_open:
            await asyncio.sleep(3600)
        if odd.breaks_off:
            assert request.transport is not None
            request.transport.close()
        return response

    async def _stream(self, request: web.Request, body: dict[str, Any], model: str) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "X-Request-Id": "r-1", "X-Upstream": CANARY}
        )
        await response.prepare(request)
        words = self._words(body, model)
        pause = {"slow": 0.05, "long": 0.005, "steady": 0.005}.get(model, 0)
        stops_after = int(model.rsplit("-", 1)[1]) if model.startswith(("cut-", "hang-")) else None
        if model == "patient":
            await self._goes_on.wait()
        if model.startswith("telltale"):
            await response.write(self._chunk(model, _everything(model), usage={"prompt_tokens": 7, model: CANARY}))
        if model == "thinks-first":
            await response.write(self._chunk(model, {"reasoning": "let me see "}))
        if model == "comments":
            while True:
                await response.write(b": ping\n\n")
                await asyncio.sleep(0.05)
        if model == "malformed":
            await response.write(b"data: {oops\n\n")
        for number, word in enumerate(words):
            if number == stops_after:
                if model.startswith("hang-"):
                    await asyncio.sleep(3600)
                assert request.transport is not None
                request.transport.abort()
                return response
            if word == f"{PAUSE} ":
                self.paused += 1
                try:
                    await self._goes_on.wait()
                finally:
                    self.paused -= 1
            usage = {"prompt_tokens": 7, "completion_tokens": number + 1}
            more = {"usage": usage} if model == "growing" else {}
            await response.write(self._chunk(model, {"content": word}, **more))
            self.words_sent += 1
            if pause:
                await asyncio.sleep(pause)
        if model == "no-finish":
            return response
        await response.write(self._chunk(model, {}, "length" if model in ("length-alone", "judge-cut") else "stop"))
        usage = {"prompt_tokens": 7, "completion_tokens": len(words)}
        await response.write(self._chunk(model, {}, None, usage=usage) + b"data: [DONE]\n\n")
        return response

    async def _call_tools(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        name = body["tools"][0]["function"]["name"]
        for index in range(2):
            begin = {"index": index, "id": f"call_{index}", "type": "function", "function": {"name": name}}
            await response.write(self._chunk("calls-tools", {"role": "assistant", "tool_calls": [begin]}))
            for arguments in ('{"city": ', f'"Town {index}"', "}"):
                part = {"index": index, "function": {"arguments": arguments}}
                await response.write(self._chunk("calls-tools", {"tool_calls": [part]}))
        usage = {"prompt_tokens": 7, "completion_tokens": 9}
        await response.write(self._chunk("calls-tools", {}, "tool_calls"))
        await response.write(self._chunk("calls-tools", {}, None, usage=usage) + b"data: [DONE]\n\n")
        return response

    async def _call_with_state(self, request: web.Request, body: dict[str, Any], model: str) -> web.StreamResponse:
        if body["messages"][-1]["role"] != "tool":
            deltas = [event(delta) for delta in STATEFUL[model][0]]
            return await self._perform(request, [write(*deltas, event({}, "tool_calls"), DONE)])
        if refused := refusal_of_second_turn(model, body):
            return web.json_response(refused[1], status=refused[0])
        return await self._stream(request, body, model)

    async def _reveal_key(self, request: web.Request, model: str) -> web.StreamResponse:
        key = request.headers["Authorization"].removeprefix("Bearer ")
        if model != "indiscreet":
            return web.json_response({"error": {"message": f"no {key}"}}, status=int(model[-3:]))
        headers = {"Content-Type": "text/event-stream", "X-Request-Id": key}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        await response.write(self._chunk(model, {"reasoning": f"I was sent {key}."}))
        for piece in ("Your key is ", *key, ", ", key[:5], key[5:], ", thus it ends in ", key[:4]):
            await response.write(self._chunk(model, {"content": piece}))
            await asyncio.sleep(0.002)
        await response.write(self._chunk(model, {}, f"stop {key}") + b"data: [DONE]\n\n")
        return response

    def _words(self, body: dict[str, Any], model: str) -> list[str]:
        if model in ("empty", "length-alone"):
            return []
        if model == "long":
            return [f"word{n} " for n in range(800)]
        if model in JUDGES:
            return [JUDGES[model](body["messages"])]
        prompt = self._prompt_text(body["messages"][-1].get("content"))
        if model == "judges" and prompt.startswith("empty"):
            return []
        return [word + " " for word in prompt.split(" ")]

    def _prompt_text(self, content: Any) -> str:
        """Return the prompt, followed by the format and size of each picture that a browser uploaded."""
        if not isinstance(content, list):
            return str(content or "")
        parts = [part for part in content if isinstance(part, dict)]
        texts = [str(part["text"]) for part in parts if part.get("type") == "text"]
        pictures = [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]
        return " ".join([*texts, *(_format_and_size(url) for url in pictures if url.startswith(UPLOADED))])

    def _chunk(self, model: str, delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        chunk = {
            "id": f"chatcmpl-{CANARY}", "model": f"{model}-{CANARY}", "system_fingerprint": CANARY,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more,
        }  # fmt: skip
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"
