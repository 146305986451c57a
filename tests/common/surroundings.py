"""`python -m tests.common.surroundings STATUS|reply|nested|hang`: a child that writes what it has of its parent."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from common.child_process.frames import pack, receive


def surroundings() -> bytes:
    descriptors = [path for path in list(Path("/proc/self/fd").iterdir()) if path.exists()]
    of_parent = {
        "environment": {name: value for name, value in os.environ.items() if name != "LC_CTYPE"},  # Python sets it
        "descriptors": sorted(int(path.name) for path in descriptors),
        "folder": str(Path.cwd()),
        "leads_session": os.getsid(0) == os.getpid(),
    }
    return json.dumps(of_parent).encode()


def reply() -> None:
    parent = socket.socket(fileno=0)
    while (content := receive(parent)) is not None:
        parent.sendall(pack(content + surroundings()))


def start_another() -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    socket.socket(fileno=0).sendall(pack(str(process.pid).encode()))
    process.wait()


def hang() -> None:
    sys.stdout.buffer.write(sys.stdin.buffer.read())
    sys.stdout.buffer.flush()
    signal.pause()


def end(status: int) -> None:
    sys.stdout.buffer.write(sys.stdin.buffer.read() + surroundings())
    sys.exit(status)


if __name__ == "__main__":
    match sys.argv[1]:
        case "reply":
            reply()
        case "nested":
            start_another()
        case "hang":
            hang()
        case status:
            end(int(status))
