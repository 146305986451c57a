"""Where PostgreSQL and Valkey are, and how each library wants to hear it."""

import json
from pathlib import Path
from urllib.parse import urlsplit

SERVICE_FILE = "services.json"


def service_file_values(data_dir: Path) -> dict[str, str]:
    """What a running `manage.py up` wrote for other shells (0600): URLs and secrets. Empty when there is none."""
    try:
        values = json.loads((data_dir / SERVICE_FILE).read_text())
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in values.items() if isinstance(value, str)}


def redis_url_for(library: str, url: str) -> str:
    """Translate one `redis://`, `rediss://` or `unix://` URL into the spelling of `library`.

    redis-py wants unix:///path, Celery redis+socket:///path, limits redis+unix:///path.
    Raises ValueError for an unknown scheme or library.
    """
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss"):
        return url
    if scheme != "unix":
        raise ValueError(f"REDIS_URL must begin with redis://, rediss:// or unix://, not {scheme!r}")
    spelling = {"redis-py": "unix", "celery": "redis+socket", "limits": "redis+unix"}[library]
    if library == "celery":
        url = url.replace("?db=", "?virtual_host=")
    return spelling + url.removeprefix("unix")
