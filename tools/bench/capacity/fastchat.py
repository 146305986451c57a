"""A battle of FastChat's arena, from its web server's queue, as its page asks for it: the tab of two hidden models.

The server runs without controller and workers, and calls the provider by its API, as for models of other companies.
torch, transformers and accelerate, which it imports for workers of its own, are stand-ins. Votes are not part of it.
"""

import asyncio
import json
import secrets
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from tests.worlds.arena import free_port
from tools.bench.arena import Bench
from tools.bench.load import BattleTiming, percentile
from tools.bench.meter import cpu_seconds
from tools.bench.peer_programs import running_peer, skips
from tools.bench.peers import FOLDER
from tools.bench.scenarios import print_row

PYTHON = FOLDER / "fastchat/bin/python"
START = """
import runpy, sys
from unittest.mock import MagicMock
for name in (
    "torch", "torch.nn", "torch.nn.functional", "transformers", "transformers.models", "transformers.models.llama",
    "transformers.models.llama.modeling_llama", "transformers.generation", "transformers.generation.logits_process",
    "accelerate", "accelerate.utils",
):
    sys.modules[name] = MagicMock()
runpy.run_module("fastchat.serve.gradio_web_server_multi", run_name="__main__")
"""
# Places of functions in the page's configuration.
PROMPT, ANSWERS, LOAD = 9, 10, 55
AT_ONCE, TOKENS = 20, 200


def fastchat(bench: Bench) -> None:
    print(f"FastChat's arena, {AT_ONCE} battles at once, 2 × {TOKENS} tokens at 50 tokens/s")
    port = free_port()
    with skips("fastchat"), TemporaryDirectory() as name:
        directory = Path(name)
        models = {
            f"bench-{side}": {
                "model_name": f"tokens-{TOKENS}-at-50-{side}", "api_type": "openai", "api_base": bench.provider,
                "api_key": "none", "anony_only": False,
            }
            for side in "ab"
        }  # fmt: skip
        (directory / "models.json").write_text(json.dumps(models))
        options = ["--controller-url", "", "--register-api-endpoint-file", "models.json", "--host", "127.0.0.1"]
        command = [str(PYTHON), "-c", START, *options, "--port", str(port), "--concurrency-count", "100"]
        own = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
        address = f"http://127.0.0.1:{port}"
        with running_peer(command, f"{address}/config", home=directory, environment=own) as pid:
            asyncio.run(_battles(address, 2))
            before, began = cpu_seconds(pid), time.perf_counter()
            timings = asyncio.run(_battles(address, AT_ONCE))
            wall = time.perf_counter() - began
            cpu = (cpu_seconds(pid) - before) / AT_ONCE
            print_row("CPU s of one battle of 2 × 200 tokens, FastChat's web server", f"{cpu:.3f}")
            print_row("cores in use, longest battle", f"{cpu * AT_ONCE / wall:.2f}, {wall:.1f} s")
            print_row("first text p50", f"{percentile([one.first_text for one in timings], 0.5):.2f} s")
            print_row("bytes to a reader per battle", f"{percentile([one.bytes for one in timings], 0.5):,.0f}")


async def _battles(address: str, number: int) -> list[BattleTiming]:
    async with aiohttp.ClientSession(
        address, read_bufsize=2**22, connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=300)
    ) as client:
        await _call(client, secrets.token_hex(5), LOAD, [{}], BattleTiming())

        async def one() -> BattleTiming:
            timing, session = BattleTiming(), secrets.token_hex(5)
            await _call(client, session, PROMPT, [None, None, "", "", "Say many words."], timing)
            await _call(client, session, ANSWERS, [None, None, 0.7, 1.0, 1024], timing)
            return timing

        return list(await asyncio.gather(*(one() for _ in range(number))))


async def _call(
    client: aiohttp.ClientSession, session: str, function: int, inputs: list[object], timing: BattleTiming
) -> None:
    body = {"data": inputs, "event_data": None, "fn_index": function, "trigger_id": None, "session_hash": session}
    began = time.perf_counter()
    async with client.post("/queue/join", json=body) as response:
        response.raise_for_status()
    async with client.get("/queue/data", params={"session_hash": session}) as response:
        async for line in response.content:
            timing.bytes += len(line)
            if not timing.first_text and b'"process_generating"' in line and b"word" in line:
                timing.first_text = time.perf_counter() - began
            if b'"process_completed"' in line:
                assert b'"success":true' in line.replace(b" ", b""), line[-500:]
                break
    timing.end = time.perf_counter() - began
