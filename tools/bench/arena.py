import asyncio
import subprocess
import sys
import time
from pathlib import Path

from tests.worlds.arena import Arena, free_port
from tools.bench.load import BattleTiming, Crowd
from tools.bench.meter import Meter, spent

MODELS = """
- {{id: bench-a, name: Bench A, model: {model}-a, base_url: "{provider}", needs_key: false, status: active}}
- {{id: bench-b, name: Bench B, model: {model}-b, base_url: "{provider}", needs_key: false, status: active}}
"""
MAKE_USER = "from accounts.models import User; User.objects.create_user('bench@example.org')"
NO_LIMITS = {
    f"ARENA_LIMIT_{action}_{role}": "off"
    for action in ("BATTLE", "TURN", "VOTE", "GATEWAY", "READ")
    for role in ("VISITOR", "MEMBER", "NETWORK", "NETWORK48")
}
NO_LIMITS |= {f"ARENA_STREAMS_{scope}": "10000" for scope in ("PERSON", "NETWORK", "PROCESS")}
# Parts whose CPU has a bar.
MEASURED_PARTS = ("web", "answers", "rendering", "valkey")


class Bench:
    """Arena, provider and users. at_once: battles for the CPU figures; minutes: of the soak; votes: of the board,
    spread over `days`; items: of a benchmark run.
    """

    def __init__(self, directory: Path, *, at_once: int, minutes: float, votes: int, days: float, items: int) -> None:
        self.at_once, self.minutes, self.votes, self.days, self.items = at_once, minutes, votes, days, items
        self.provider_port, self.relay_port = free_port(), free_port()
        self.provider = f"http://127.0.0.1:{self.provider_port}/v1"
        self.models = directory / "models.yaml"
        self.arena = Arena(directory / "data")
        self.arena.environment |= {"ARENA_MODELS_FILE": str(self.models), **NO_LIMITS}
        self.relay_pid = self.provider_pid = 0
        self.cast = 0  # votes behind the board so far

    def start(self, relay: subprocess.Popen[bytes], provider: subprocess.Popen[bytes]) -> None:
        self.relay_pid, self.provider_pid = relay.pid, provider.pid
        self._write_models("tokens-200-at-50")
        self.arena.start()
        self.arena.run(sys.executable, "manage.py", "shell", "-c", MAKE_USER)
        command = [
            "manage.py",
            "create_api_token",
            "bench@example.org",
            "--name",
            "bench",
            "--scopes",
            "read,battle,vote",
        ]
        output = self.arena.run(sys.executable, *command).stdout.split()
        self.crowd = Crowd(self.arena.url, next(word for word in output if word.startswith("arena_")))
        self.meter = Meter(self.arena)

    def use_token_model(self, tokens: int, rate: int) -> str:
        """Let both models answer `tokens` tokens at `rate` tokens/s; return the model's name."""
        return self._use(f"tokens-{tokens}-at-{rate}")

    def use_hostile_model(self, name: str) -> str:
        """Let both models give an answer that is slow to render."""
        return self._use(f"hostile-{name}")

    def _use(self, model: str) -> str:
        self._write_models(model)
        imported = self.arena.run(sys.executable, "manage.py", "import_models", str(self.models))
        assert imported.returncode == 0, imported.stderr
        return model

    def _write_models(self, model: str) -> None:
        self.models.write_text(MODELS.format(provider=self.provider, model=model))

    def battles(self, number: int, *, over_s: float = 0.0) -> tuple[list[BattleTiming], dict[str, float], float]:
        """Run battles; return (timings, CPU seconds by part, wall seconds)."""
        before, began = self.meter.cpu(), time.perf_counter()
        timings = asyncio.run(self.crowd.battles(number, over_s=over_s))
        seconds = time.perf_counter() - began
        time.sleep(0.3)
        return timings, spent(before, self.meter.cpu()), seconds
