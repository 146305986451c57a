"""Programs of others that are measured beside the arena."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

# Nothing else of the bench's environment: a peer would take its DATABASE_URL and keys for its own.
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
LAST_LINES, LAST_CHARACTERS = 6, 1_000
UP_WITHIN_S, PAUSE_S = 120.0, 0.2


class PeerSkipped(Exception):
    """Raised with the reason when a peer cannot be measured."""


@contextmanager
def skips(name: str) -> Iterator[None]:
    """Print why a peer is skipped, and go on."""
    try:
        yield
    except PeerSkipped as reason:
        print(f"  skipped: {name}: {reason}", flush=True)


def clean_environment(home: Path) -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ} | {"HOME": str(home)}


def last_lines(output: Path) -> str:
    lines = [line for line in output.read_text(errors="replace").splitlines() if line.strip()]
    return "\n    ".join(["", *lines[-LAST_LINES:]])[-LAST_CHARACTERS:]


@contextmanager
def running_peer(
    command: Sequence[str], up: str, *, home: Path, environment: Mapping[str, str], within_s: float = UP_WITHIN_S
) -> Iterator[int]:
    """Run a server; yield its process id once the address `up` answers. Raises PeerSkipped with its last lines."""
    output = home / "output"
    with output.open("w") as file:
        process = start(command, home=home, environment=environment, output=file.fileno())
        try:
            _wait_until_up(process, up, within_s, output)
            yield process.pid
        except PeerSkipped:
            raise
        except Exception as error:
            try:
                process.wait(1)  # its connections break a moment before it is gone
            except subprocess.TimeoutExpired:
                raise error from None
            raise PeerSkipped(_how_it_ended(process.returncode, output)) from error
        finally:
            process.terminate()
            process.wait(20)


def start(
    command: Sequence[str], *, home: Path, environment: Mapping[str, str], output: int
) -> "subprocess.Popen[bytes]":
    """Raises PeerSkipped."""
    try:
        return subprocess.Popen(
            command, cwd=home, env=clean_environment(home) | dict(environment), stdout=output,
            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise PeerSkipped(f"{command[0]} cannot be started: {error.strerror}.") from error


def check_exit(exit_code: int, output: Path) -> None:
    """Raises PeerSkipped."""
    if exit_code:
        raise PeerSkipped(_how_it_ended(exit_code, output))


def _wait_until_up(process: "subprocess.Popen[bytes]", up: str, within_s: float, output: Path) -> None:
    deadline = time.monotonic() + within_s
    while process.poll() is None:
        try:
            with urlopen(up, timeout=5) as response:
                if response.status == 200:
                    return
        except (URLError, OSError):
            pass
        if time.monotonic() > deadline:
            raise PeerSkipped(f"it did not answer within {within_s:g} s. Its last lines: {last_lines(output)}")
        time.sleep(PAUSE_S)
    raise PeerSkipped(_how_it_ended(process.returncode, output))


def _how_it_ended(exit_code: int, output: Path) -> str:
    return f"it ended with exit code {exit_code}. Its last lines: {last_lines(output)}"
