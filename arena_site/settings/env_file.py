"""The file of settings: `.env` beside manage.py, or the one that ARENA_ENV_FILE names."""

import errno
import os
from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parents[2]


def read_env_file() -> None:
    """Into the environment, which wins. Raises FileNotFoundError when one is named that is not there."""
    named = os.environ.get("ARENA_ENV_FILE")
    file = BASE_DIR / (named or ".env")
    if named and not file.exists():
        raise FileNotFoundError(errno.ENOENT, "ARENA_ENV_FILE names a file that is not there", named)
    environ.Env.read_env(file, overwrite=False)
