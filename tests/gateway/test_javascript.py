"""Other people's programs in JavaScript, installed by `make bench-peers`: OpenAI's client, and LibreChat's settings."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site

from gateway.snippets import snippets

pytestmark = pytest.mark.django_db(transaction=True)
PACKAGES = Path(site.BASE_DIR, ".peers/javascript/node_modules")
# Appended to the page's snippet.
MORE = """
const asked = { model: "auto", messages: [{ role: "user", content: "one two three" }] };
let streamed = "", usage = null;
const options = { stream: true, stream_options: { include_usage: true } };
for await (const chunk of await client.chat.completions.create({ ...asked, ...options })) {
  streamed += chunk.choices[0]?.delta.content ?? "";
  usage = chunk.usage ?? usage;
}
const { data, response } = await client.chat.completions.create(asked).withResponse();
const listed = [];
for await (const model of client.models.list()) listed.push(model.id);
const refusal = await client.chat.completions.create({ ...asked, model: "nothing" }).catch((error) => error);
const city = { type: "object", properties: { city: { type: "string" } } };
const weather = {
  name: "weather", description: "", parameters: city, parse: JSON.parse, function: ({ city }) => `sunny in ${city}`,
};
const tools = [{ type: "function", function: weather }];
const called = client.chat.completions.runTools({ ...asked, model: "TOOLS", tools });
console.log(JSON.stringify({
  streamed, tokens: usage.completion_tokens, same: data.model === response.headers.get("x-arena-model"), listed,
  refusal: [refusal.constructor.name, refusal.status, refusal.code], called: await called.finalContent(),
}));
"""
CHECK_LIBRECHAT = """
import * as yaml from "js-yaml";
import { configSchema, extractEnvVariable } from "librechat-data-provider";
const read = configSchema.strict().parse(yaml.load(process.env.SETTINGS));
const [{ name, apiKey, baseURL, models }] = read.endpoints.custom;
console.log(JSON.stringify({ name, apiKey: extractEnvVariable(apiKey), baseURL, models }));
"""


@pytest.fixture(autouse=True)
def _are_installed() -> None:
    if not (PACKAGES.exists() and shutil.which("node")):
        pytest.skip("OpenAI's client for JavaScript is not installed")


def run(directory: Path, code: str, **environment: str) -> list[str]:
    """Run a module and return the lines of its output."""
    script = directory / "script.mjs"
    script.write_text(code)
    modules = directory / "node_modules"
    if not modules.exists():
        modules.symlink_to(PACKAGES)
    done = subprocess.run(
        ["node", script.name], cwd=directory, env={**os.environ, "NO_PROXY": "*", **environment},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def code_of(key: str, base_url: str) -> str:
    return next(snippet.code for snippet in snippets(base_url) if snippet.key == key)


def test_openais_javascript_client_works(
    address: str, token: str, model: Callable[..., Any], settings: Any, tmp_path: Path
):
    settings.ARENA_ROUTER = "battles.auto.port.heaviest_weight"
    slugs = [model(weight=9).slug, model("calls-tools", abilities=["tools"]).slug]
    code = code_of("javascript", f"{address}/v1")
    first, last = run(tmp_path, code + MORE.replace("TOOLS", slugs[1]), ARENA_TOKEN=token)
    assert first == "Name a river. "
    assert json.loads(last) == {
        "streamed": "one two three ", "tokens": 3, "same": True,
        "listed": ["auto", "auto-cheap", "auto-best", "auto-fast", "battle", *slugs],
        "refusal": ["NotFoundError", 404, "model_not_found"], "called": "sunny in Town 1 ",
    }  # fmt: skip


def test_librechat_accepts_its_settings(tmp_path: Path):
    settings = code_of("librechat", "https://arena.example/v1")
    [read] = run(tmp_path, CHECK_LIBRECHAT, SETTINGS=settings, ARENA_TOKEN="arena_x")
    assert json.loads(read) == {
        "name": "Arena", "apiKey": "arena_x", "baseURL": "https://arena.example/v1",
        "models": {"default": ["auto"], "fetch": True},
    }  # fmt: skip
