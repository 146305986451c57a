"""services.json: addresses of services for `manage.py` in other shells, and the installation's secrets."""

import json
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

from arena_site.embedded.program import CannotStart
from arena_site.settings.env import SERVICE_FILE
from arena_site.supervisor.state_file import replace_file
from arena_site.supervisor.terminal import echo

GENERATED_SECRETS: dict[str, Callable[[], str]] = {
    "SECRET_KEY": lambda: secrets.token_urlsafe(50),
    "ARENA_ENCRYPTION_KEYS": lambda: urlsafe_b64encode(secrets.token_bytes(32)).decode(),
    "ARENA_POSTGRES_PASSWORD": lambda: secrets.token_urlsafe(32),
}


class ServiceFile:
    """Values for other shells; children get them through the environment. Mode 0600."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / SERVICE_FILE
        try:
            self._values: dict[str, str] = json.loads(self._path.read_text())
        except FileNotFoundError:
            self._values = {}
        except ValueError as error:  # new secrets would make every stored provider key unreadable
            raise CannotStart(f"{self._path} is damaged ({error}): restore it from a backup.") from error

    def is_set_by_operator(self, name: str) -> bool:
        """Return whether the operator set it, in the environment or .env.

        Django settings loaded earlier put this file's values into the environment: those do not count.
        """
        return os.environ.get(name, "") not in ("", self._values.get(name))

    def make_secrets(self) -> None:
        """Generate missing secrets. Raises CannotStart when they cannot be stored.

        A lost encryption key makes every provider key that it encrypted unreadable.
        """
        for name, make in GENERATED_SECRETS.items():
            if self.is_set_by_operator(name):
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

    def remove(self, name: str) -> None:
        if not self.is_set_by_operator(name):
            os.environ.pop(name, None)
        self._save_or_warn({key: value for key, value in self._values.items() if key != name})

    def __getitem__(self, name: str) -> str:
        """Raises CannotStart."""
        try:
            return self._values[name]
        except KeyError as error:
            raise CannotStart(f"{self._path} has no {name}: restore it from a backup.") from error

    def _save_or_warn(self, values: dict[str, str]) -> None:
        """Save, or only warn: the arena's processes get the values by their environment."""
        try:
            self._save(values)
        except OSError as error:
            echo(f"{self._path} cannot be written ({error.strerror}): other shells may not find the running services.")

    def _save(self, values: dict[str, str]) -> None:
        if values == self._values:
            return
        self._values = values
        replace_file(self._path, json.dumps(values, indent=2))
