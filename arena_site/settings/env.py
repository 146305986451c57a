"""Sources of settings: the environment, then .env, then the service file of `make up`."""

import errno
import json
import os
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import environ

BASE_DIR = Path(__file__).resolve().parents[2]
SERVICE_FILE = "services.json"


@cache
def load_env() -> environ.Env:
    """Add .env and the service file to the environment, which has precedence; return its reader.

    Raises FileNotFoundError when the file named by ARENA_ENV_FILE is missing.
    """
    read_env_file()
    env = environ.Env()
    for key, value in service_file_values(data_dir(env)).items():
        os.environ[key] = os.environ.get(key) or value  # an empty variable counts as not set
    return env


def read_env_file() -> None:
    """Add `.env`, or the file named by ARENA_ENV_FILE, to the environment."""
    named = os.environ.get("ARENA_ENV_FILE")
    file = BASE_DIR / (named or ".env")
    if named and not file.exists():
        raise FileNotFoundError(errno.ENOENT, "ARENA_ENV_FILE names a file that is not there", named)
    environ.Env.read_env(file, overwrite=False)


def data_dir(env: environ.Env) -> Path:
    return Path(BASE_DIR, env.str("ARENA_DATA_DIR", default=".arena"))


def service_file_values(directory: Path) -> dict[str, str]:
    """Return a running arena's URLs and secrets for other shells; empty without one."""
    try:
        values = json.loads((directory / SERVICE_FILE).read_text())
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in values.items() if isinstance(value, str)}


def redis_url_for(library: str, url: str) -> str:
    """Return a `redis://`, `rediss://` or `unix://` URL in the form of `library`, "redis-py" or "celery".

    For a socket, redis-py reads unix:///path and Celery redis+socket:///path. Raises ValueError for another scheme.
    """
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss"):
        return url
    if scheme != "unix":
        raise ValueError(f"REDIS_URL must begin with redis://, rediss:// or unix://, not {scheme!r}")
    prefix = {"redis-py": "unix", "celery": "redis+socket"}[library]
    if library == "celery":
        url = url.replace("?db=", "?virtual_host=")
    return prefix + url.removeprefix("unix")
