"""What somebody needs to know to run a program: how to start it, when it is ready, how to stop it."""

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class CannotStart(Exception):
    """Why the arena does not start: one sentence for the person at the terminal."""


@dataclass(frozen=True)
class Program:
    """`name` is for files, `label` for people. `is_ready` is asked many times a second and never raises.

    `before_start` runs before every start, also after a crash.
    """

    name: str
    label: str
    command: list[str]
    cwd: Path
    is_ready: Callable[[], bool]
    stop_signal: signal.Signals = signal.SIGTERM
    before_start: Callable[[], None] = lambda: None
    speaks: bool = False  # what it prints is for the person at the terminal; its errors still go to its log
