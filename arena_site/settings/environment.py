"""Where settings come from: the environment, then .env, then what `make up` wrote for itself."""

import os
from pathlib import Path

import environ

from arena_site.settings.env_file import BASE_DIR, read_env_file
from arena_site.settings.services import service_file_values

env = environ.Env()
read_env_file()

ARENA_DATA_DIR = Path(env.str("ARENA_DATA_DIR", default=".arena"))
if not ARENA_DATA_DIR.is_absolute():
    ARENA_DATA_DIR = BASE_DIR / ARENA_DATA_DIR
for _key, _value in service_file_values(ARENA_DATA_DIR).items():
    os.environ[_key] = os.environ.get(_key) or _value  # set and empty is not given

# Ratings are fitted beside everything else: on two busy cores, more threads made a board of 300 models ten times
# slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
