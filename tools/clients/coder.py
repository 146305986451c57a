"""Stand-in for a model that edits one file with the tools of a coding agent."""

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tests.fake_provider import FakeProvider

NAME = "edits-a-file"
OLD, NEW = "Hello, wrold!", "Hello, world!"
FILE = "greeting.txt"
_SED = f"sed -i 's/wrold/world/' {FILE}"
_PATCH = f"*** Begin Patch\n*** Update File: {FILE}\n@@\n-{OLD}\n+{NEW}\n*** End Patch\n"
# Arguments by tool, of Codex, Claude Code and others; {folder} is where the agent runs.
_STEPS: dict[str, list[Callable[[str], dict[str, Any]]]] = {
    "Edit": [
        lambda folder: {"file_path": f"{folder}/{FILE}"},
        lambda folder: {"file_path": f"{folder}/{FILE}", "old_string": OLD, "new_string": NEW},
    ],
    "apply_patch": [lambda _: {"input": _PATCH}],
    "exec_command": [lambda _: {"cmd": _SED}],
    "shell": [lambda _: {"command": ["sh", "-c", _SED]}],
    "shell_command": [lambda _: {"command": _SED}],
}


class Upstream(FakeProvider):
    """Provider of the tests, and of the model NAME. folder: of the agent."""

    folder = ""

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body["model"] != NAME:
            return await super()._complete(request)
        self.requests.append(body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for delta, finish in self._answer(body):
            await response.write(self._chunk(NAME, delta, finish))
        usage = {"prompt_tokens": 7, "completion_tokens": 9}
        await response.write(self._chunk(NAME, {}, None, usage=usage) + b"data: [DONE]\n\n")
        return response

    def _answer(self, body: dict[str, Any]) -> list[tuple[dict[str, Any], str | None]]:
        offered = [tool["function"]["name"] for tool in body.get("tools", ())]
        done = sum(message["role"] == "tool" for message in body["messages"])
        tool = next((name for name in _STEPS if name in offered), "")
        steps = _STEPS.get(tool, [])
        if done >= len(steps):
            return [({"content": "The greeting is corrected."}, None), ({}, "stop")]
        name = "Read" if tool == "Edit" and done == 0 else tool
        arguments = json.dumps(steps[done](self.folder))
        call = {"index": 0, "id": f"call_{done}", "type": "function", "function": {"name": name, "arguments": ""}}
        part = {"index": 0, "function": {"arguments": arguments}}
        return [
            ({"reasoning_content": "I correct it."}, None), ({"tool_calls": [call]}, None),
            ({"tool_calls": [part]}, None), ({}, "tool_calls"),
        ]  # fmt: skip
