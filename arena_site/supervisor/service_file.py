"""The file by which any `manage.py` in another shell finds the running services, and where secrets live for ever."""

import json
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

from arena_site.embedded.program import CannotStart
from arena_site.settings.env import SERVICE_FILE
from arena_site.supervisor.state_file import replace_file
from arena_site.supervisor.terminal import say

MADE_ONCE: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(50),
    "ARENA_ENCRYPTION_KEYS": lambda: urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "ARENA_POSTGRES_PASSWORD": lambda: secrets.token_urlsafe(32),
}


class ServiceFile:
    """What we publish for others (and for our children, through the environment); mode 0600."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / SERVICE_FILE
        try:
            self._values: dict[str, str] = json.loads(self._path.read_text())
        except FileNotFoundError:
            self._values = {}
        except ValueError as error:  # new secrets would make every stored provider key unreadable
            raise CannotStart(f"{self._path} is damaged ({error}): restore it from a backup.") from error

    def is_given(self, name: str) -> bool:
        """Whether the person set it, in the environment or .env; then it is theirs and we leave it alone.

        Django settings that were read before us put our own values into the environment: those do not count.
        """
        return os.environ.get(name, "") not in ("", self._values.get(name))

    def make_secrets(self) -> None:
        """Once per installation: a lost encryption key loses every provider key that it encrypted.

        Raises CannotStart when they cannot be stored.
        """
        for name, make in MADE_ONCE.items():
            if self.is_given(name):
                continue
            value = self._values.get(name) or make()
            os.environ[name] = value
            try:
                self._save({**self._values, name: value})
            except OSError as error:
                raise CannotStart(f"{self._path} cannot be written ({error.strerror}).") from error

    def publish(self, name: str, value: str) -> None:
        os.environ[name] = value
        self._save_or_warn({**self._values, name: value})

    def withdraw(self, name: str) -> None:
        if not self.is_given(name):
            os.environ.pop(name, None)
        self._save_or_warn({key: value for key, value in self._values.items() if key != name})

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def _save_or_warn(self, values: dict[str, str]) -> None:
        """The arena's own processes have these values in their environment, so it works without the file."""
        try:
            self._save(values)
        except OSError as error:
            say(f"{self._path} cannot be written ({error.strerror}): other shells may not find the running services.")

    def _save(self, values: dict[str, str]) -> None:
        if values == self._values:
            return
        self._values = values
        replace_file(self._path, json.dumps(values, indent=2))
