"""What somebody needs to know to run a program: how to start it, when it is ready, how to stop it."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


class CannotStart(Exception):
    """Why the arena does not start: one sentence for the person at the terminal."""


@dataclass(frozen=True)
class Program:
    """`is_ready` is asked several times a second; it neither waits nor raises."""

    name: str
    command: list[str]
    cwd: Path
    is_ready: Callable[[], bool]
    stop_signal: signal.Signals = signal.SIGTERM
    environment: Mapping[str, str] = field(default_factory=dict)
