"""docker-compose.yml with variables filled in."""

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from django.conf import settings

# Compose refuses to start without these.
SECRETS = {"SECRET_KEY": "s", "ARENA_ENCRYPTION_KEYS": "k", "POSTGRES_PASSWORD": "p", "POSTGRES_SITE_PASSWORD": "s"}
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*))?\}")


def interpolated(text: str, values: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if name in values:
            return values[name]
        assert kind == "-", f"{name} has neither a value nor a default"
        return interpolated(rest, values)

    return VARIABLE.sub(value, text)


@dataclass(frozen=True)
class Service:
    name: str
    config: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.config[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self.config.get(key, default)

    @property
    def is_ours(self) -> bool:
        return self["image"].partition(":")[0] == "arena"

    @property
    def is_one_shot(self) -> bool:
        return str(self.config["restart"]).startswith("on-failure")

    def command(self, **values: str) -> list[str]:
        command = self.config["command"]
        return command if isinstance(command, list) else shlex.split(interpolated(command, values))

    def environment(self, **values: str) -> dict[str, str]:
        return {name: interpolated(str(value), values) for name, value in self.config["environment"].items()}


def services() -> list[Service]:
    config = yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())
    return [Service(name, service) for name, service in config["services"].items()]


def by_name(name: str) -> Service:
    return next(service for service in services() if service.name == name)


def make_secrets(file: Path) -> subprocess.CompletedProcess[str]:
    script = settings.BASE_DIR / "deploy" / "make_secrets.sh"
    return subprocess.run([script, file], check=False, capture_output=True, text=True)


def made_secrets() -> dict[str, str]:
    with NamedTemporaryFile("r") as file:
        assert make_secrets(Path(file.name)).returncode == 0
        return dict(line.split("=", 1) for line in file.read().splitlines())


def variables() -> set[str]:
    """Return the variables that the compose files take from .env."""
    texts = [path.read_text() for path in settings.BASE_DIR.glob("docker-compose*.yml")]
    return {name for text in texts for name in re.findall(r"(?<!\$)\$\{(\w+)", text)}
