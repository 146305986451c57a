"""Configuration of pip on this machine, and readiness of a started arena."""

import re
import subprocess
import sys

import httpx2


def is_ready(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/readyz", timeout=10).status_code == 200
    except httpx2.TransportError:
        return False


def pip_settings() -> dict[str, str]:
    """Return pip's configuration, also that of the environment, by name."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {
        name: value.replace("\\n", "\n    ") for name, value in re.findall(r"\.([\w-]+)='(.*)'$", listed, re.MULTILINE)
    }


def pip_configuration(settings: dict[str, str]) -> str:
    """Return the settings as a file."""
    return "[global]\n" + "".join(f"{name} = {value}\n" for name, value in settings.items())
