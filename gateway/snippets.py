"""Settings of other software, ready to be copied."""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CURL = """\
curl {base_url}/chat/completions \\
  -H "Authorization: Bearer $ARENA_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{{"model": "auto", "messages": [{{"role": "user", "content": "Name a river."}}]}}'"""
PYTHON = """\
import os

from openai import OpenAI

client = OpenAI(base_url="{base_url}", api_key=os.environ["ARENA_TOKEN"])
stream = client.chat.completions.create(
    model="auto", messages=[{{"role": "user", "content": "Name a river."}}], stream=True
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")"""
JAVASCRIPT = """\
import OpenAI from "openai";

const client = new OpenAI({{ baseURL: "{base_url}", apiKey: process.env.ARENA_TOKEN }});
const answer = await client.chat.completions.create({{
  model: "auto",
  messages: [{{ role: "user", content: "Name a river." }}],
}});
console.log(answer.choices[0].message.content);"""
OPEN_WEBUI = """\
pip install open-webui
export ENABLE_OLLAMA_API=false
export OPENAI_API_BASE_URL={base_url}
export OPENAI_API_KEY="$ARENA_TOKEN"
export DEFAULT_MODEL_PARAMS='{{"function_calling": "legacy"}}'
open-webui serve --port 3000"""
LIBRECHAT = """\
version: 1.3.17
endpoints:
  custom:
    - name: Arena
      apiKey: "${{ARENA_TOKEN}}"
      baseURL: "{base_url}"
      models:
        default: ["auto"]
        fetch: true
      titleConvo: true
      titleModel: auto-cheap"""

CODEX = """\
model = "auto"
model_provider = "arena"

[model_providers.arena]
name = "Arena"
base_url = "{base_url}"
env_key = "ARENA_TOKEN"
wire_api = "responses\""""
CLAUDE_CODE = """\
export ANTHROPIC_BASE_URL={origin}
export ANTHROPIC_AUTH_TOKEN="$ARENA_TOKEN"
export ANTHROPIC_MODEL=auto-best
export ANTHROPIC_DEFAULT_HAIKU_MODEL=auto-cheap
claude"""
CONTINUE = """\
name: Arena
version: 0.0.1
schema: v1
models:
  - name: Arena
    provider: openai
    model: auto
    apiBase: {base_url}
    apiKey: ${{{{ secrets.ARENA_TOKEN }}}}
    roles: [chat, edit, apply]"""
OPENCODE = """\
{{
  "$schema": "https://opencode.ai/config.json",
  "provider": {{
    "arena": {{
      "npm": "@ai-sdk/openai-compatible",
      "name": "Arena",
      "options": {{"baseURL": "{base_url}", "apiKey": "{{env:ARENA_TOKEN}}"}},
      "models": {{"auto": {{"name": "Auto"}}, "auto-cheap": {{"name": "Auto, cheap"}}}}
    }}
  }},
  "model": "arena/auto",
  "small_model": "arena/auto-cheap"
}}"""


class Snippet(NamedTuple):
    key: str
    title: str | Promise
    language: str
    code: str
    hint: str | Promise = ""


def snippets(base_url: str) -> list[Snippet]:
    origin = base_url.removesuffix("/v1")
    return [
        Snippet("curl", "curl", "sh", CURL.format(base_url=base_url)),
        Snippet("python", _("OpenAI’s client for Python"), "python", PYTHON.format(base_url=base_url)),
        Snippet(
            "javascript", _("OpenAI’s client for JavaScript"), "js", JAVASCRIPT.format(base_url=base_url),
            _("Store it as a module, in a file that ends in .mjs."),
        ),
        Snippet(
            "open-webui", "Open WebUI", "sh", OPEN_WEBUI.format(base_url=base_url),
            _(
                "Or in its administration, under Connections: add the address and the token. Leave out the last "
                "setting if all of your models call tools: without it, every question comes with Open WebUI’s own "
                "tools."
            ),
        ),
        Snippet(
            "librechat", "LibreChat", "yaml", LIBRECHAT.format(base_url=base_url),
            _("In librechat.yaml, with ARENA_TOKEN in its .env."),
        ),
        Snippet("codex", "Codex", "toml", CODEX.format(base_url=base_url), _("In ~/.codex/config.toml.")),
        Snippet(
            "claude-code", "Claude Code", "sh", CLAUDE_CODE.format(origin=origin),
            _("The address is the site’s, without /v1. The second model is for short tasks, such as titles."),
        ),
        Snippet(
            "continue", "Continue", "yaml", CONTINUE.format(base_url=base_url),
            _("In ~/.continue/config.yaml, with ARENA_TOKEN in ~/.continue/.env."),
        ),
        Snippet("opencode", "opencode", "json", OPENCODE.format(base_url=base_url), _("In opencode.json.")),
    ]  # fmt: skip
