"""The gateway beside direct calls, a battle, and LiteLLM's proxy if `make bench-peers` has installed it."""

import asyncio
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp

from tests.worlds.arena import free_port
from tools.bench.arena import Bench
from tools.bench.load import percentile
from tools.bench.meter import cpu_seconds, not_negative
from tools.bench.peer_programs import running_peer, skips
from tools.bench.peers import FOLDER
from tools.bench.scenarios import print_row

AT_ONCE, ROUNDS = 50, 6
SHORT, LONG = 200, 1_000
REQUESTS, TOKENS_OF_REQUEST = 600, 50
ASKED = [{"role": "user", "content": "Say many words."}]
DOORS: dict[str, dict[str, object]] = {
    "chat/completions": {"messages": ASKED},
    "responses": {"input": ASKED},
    "messages": {"messages": ASKED, "max_tokens": 1_000},
}
FIRST_TEXT = re.compile(rb'"(?:content|delta|text)": ?"w')
LITELLM = FOLDER / "litellm/bin/litellm"
LITELLM_KEY = f"sk-{secrets.token_hex(32)}"
LITELLM_CONFIG = """
model_list:
  - model_name: bench
    litellm_params: {{model: openai/{model}, api_base: "{provider}", api_key: none}}
litellm_settings: {{telemetry: false, drop_params: true}}
"""


def gateway(bench: Bench) -> None:
    print(f"The gateway, {AT_ONCE} at once")
    own = _Software(f"{bench.arena.url}/v1", "bench-a", _token(bench))
    _first_bytes(bench, own)
    ours = _cpu_of_tokens(bench, own)
    battle = _cpu_of_battle(bench)
    print_row("CPU s per 1,000 tokens, web + valkey", f"{ours:.4f}")
    print_row("CPU s per 1,000 tokens of a battle's side", f"{battle:.4f}")
    print_row("ratio to a battle's side", f"{ours / battle:.2f}", "bar 0.6")
    model = bench.use_token_model(TOKENS_OF_REQUEST, 0)
    _ask(own, 50)
    _print_cpu_of_requests("arena", own, lambda: _own_cpu(bench))
    _print_cpu_of_doors(bench, own)
    print_row("CPU ms per request, PostgreSQL", f"{_postgres_ms(bench, own):.2f}")
    with skips("litellm"), _litellm(bench.provider, f"{model}-a") as (address, pid):
        other = _Software(address, "bench", LITELLM_KEY)
        _ask(other, 50)
        _print_cpu_of_requests("litellm", other, lambda: cpu_seconds(pid))


class _Software:
    """A program that asks for streams. door: the language's address."""

    def __init__(self, base_url: str, model: str, key: str, door: str = "chat/completions") -> None:
        self.base_url, self.model, self.key, self.door = base_url, model, key, door

    async def ask(self, number: int, *, at_once: int) -> list[float]:
        """Return each request's seconds until its first text."""
        body = {"model": self.model, "stream": True, **DOORS[self.door]}
        turns = asyncio.Semaphore(at_once)
        connector, timeout = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=300)
        headers = {"Authorization": f"Bearer {self.key}"}
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=headers) as client:

            async def one() -> float:
                async with turns:
                    began, first = time.perf_counter(), 0.0
                    async with client.post(f"{self.base_url}/{self.door}", json=body) as response:
                        assert response.status == 200, await response.text()
                        async for line in response.content:
                            if not first and FIRST_TEXT.search(line):
                                first = time.perf_counter() - began
                    return first

            return list(await asyncio.gather(*(one() for _ in range(number))))


def _ask(software: _Software, number: int, at_once: int = AT_ONCE) -> list[float]:
    return asyncio.run(software.ask(number, at_once=at_once))


def _token(bench: Bench) -> str:
    command = ["manage.py", "create_api_token", "bench@example.org", "--name", "gateway", "--scopes", "gateway"]
    output = bench.arena.run(sys.executable, *command).stdout.split()
    return next(word for word in output if word.startswith("arena_"))


def _first_bytes(bench: Bench, own: _Software) -> None:
    """Print p95 of the first byte, in rounds of simultaneous requests."""
    model = bench.use_token_model(SHORT, 50)
    direct = _Software(bench.provider, model, "none")
    _ask(own, AT_ONCE)
    times: dict[str, list[float]] = {"direct": [], "gateway": []}
    for _ in range(ROUNDS):
        times["direct"] += _ask(direct, AT_ONCE)
        times["gateway"] += _ask(own, AT_ONCE)
    for share in (0.5, 0.95):
        ms = {name: 1000 * percentile(seconds, share) for name, seconds in times.items()}
        bar = "bar 15 ms" if share == 0.95 else ""
        label = f"first byte p{share * 100:.0f}: direct, gateway"
        print_row(label, f"{ms['direct']:.1f}, {ms['gateway']:.1f} ms")
        print_row(
            f"first byte p{share * 100:.0f}: later than direct, one burst",
            f"{ms['gateway'] - ms['direct']:.1f} ms",
            bar,
        )
    spread = [asyncio.run(_spread(software)) for software in (direct, own)]
    later = 1000 * (percentile(spread[1], 0.95) - percentile(spread[0], 0.95))
    print_row("first byte p95: later than direct, starts spread over the streams", f"{later:.1f} ms", "bar 15 ms")


async def _spread(software: _Software) -> list[float]:
    """Keep AT_ONCE streams under way whose starts are spread evenly."""
    times: list[float] = []

    async def stream(number: int) -> None:
        await asyncio.sleep(SHORT / 50 * number / AT_ONCE)
        for _ in range(3):
            times.extend(await software.ask(1, at_once=1))

    await asyncio.gather(*(stream(number) for number in range(AT_ONCE)))
    return times


def _cpu_of_tokens(bench: Bench, own: _Software) -> float:
    """Return CPU seconds per 1,000 tokens: the slope between short and long answers."""
    cpu = {}
    for tokens in (SHORT, LONG):
        bench.use_token_model(tokens, 50)
        _ask(own, 5)
        before = _own_cpu(bench)
        _ask(own, AT_ONCE)
        cpu[tokens] = _own_cpu(bench) - before
    return _slope(cpu, AT_ONCE)


def _cpu_of_battle(bench: Bench) -> float:
    spent = {}
    parts = ("web", "answers", "rendering", "valkey")
    for tokens in (SHORT, LONG):
        bench.use_token_model(tokens, 50)
        bench.battles(3)
        _, cpu, _ = bench.battles(AT_ONCE // 2)
        spent[tokens] = sum(cpu[part] for part in parts)
    return _slope(spent, AT_ONCE // 2 * 2)


def _slope(cpu: dict[int, float], answers: int) -> float:
    """Return CPU seconds per 1,000 further tokens. cpu: of as many answers, by tokens of each."""
    slope = (cpu[LONG] - cpu[SHORT]) / (answers * (LONG - SHORT) / 1000)
    return not_negative({"1,000 tokens": slope})["1,000 tokens"]


def _own_cpu(bench: Bench) -> float:
    cpu = bench.meter.cpu()
    return cpu["web"] + cpu["valkey"]


def _print_cpu_of_requests(name: str, software: _Software, cpu: Callable[[], float]) -> None:
    before, began = cpu(), time.perf_counter()
    times = _ask(software, REQUESTS, at_once=16)
    wall = time.perf_counter() - began
    label = f"{name}: CPU ms per request of {TOKENS_OF_REQUEST} tokens; requests/s; first byte p95"
    milliseconds = 1000 * (cpu() - before) / REQUESTS
    print_row(label, f"{milliseconds:.2f}; {REQUESTS / wall:.0f}; {1000 * percentile(times, 0.95):.0f} ms", "bar .5 ×")


def _print_cpu_of_doors(bench: Bench, own: _Software) -> None:
    """Print the CPU of Responses and Messages beside chat completions, in turns."""
    doors = {door: _Software(own.base_url, own.model, own.key, door) for door in DOORS}
    spent = dict.fromkeys(doors, 0.0)
    for _ in range(ROUNDS):
        for door, software in doors.items():
            _ask(software, 10)
            before = _own_cpu(bench)
            _ask(software, REQUESTS // 2, at_once=16)
            spent[door] += _own_cpu(bench) - before
    chat = spent.pop("chat/completions")
    for door, seconds in spent.items():
        print_row(f"CPU of {door} / chat completions, {TOKENS_OF_REQUEST} tokens", f"{seconds / chat:.2f}", "bar 1.15")


def _postgres_ms(bench: Bench, own: _Software) -> float:
    before = bench.meter.cpu()["postgres"]
    _ask(own, REQUESTS, at_once=16)
    return 1000 * (bench.meter.cpu()["postgres"] - before) / REQUESTS


@contextmanager
def _litellm(provider: str, model: str) -> Iterator[tuple[str, int]]:
    """Run LiteLLM's proxy with one worker; yield its address and process id. Raises PeerSkipped."""
    port = free_port()
    with TemporaryDirectory() as directory:
        config = Path(directory) / "config.yaml"
        config.write_text(LITELLM_CONFIG.format(model=model, provider=provider))
        command = [str(LITELLM), "--config", str(config), "--port", str(port), "--host", "127.0.0.1"]
        own = {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_MASTER_KEY": LITELLM_KEY,
        }  # fmt: skip
        up = f"http://127.0.0.1:{port}/health/liveliness"
        with running_peer(command, up, home=Path(directory), environment=own) as pid:
            yield f"http://127.0.0.1:{port}/v1", pid
