import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Exit status of a program whose last line is a sentence for the terminal.
CANNOT_START_STATUS = os.EX_CONFIG


class CannotStart(Exception):
    """The message is a sentence for the terminal."""


@dataclass(frozen=True)
class Program:
    """`name` is for files, `label` for people.

    `is_ready` is called often and never raises. `before_start` runs before every start and restart.
    """

    name: str
    label: str
    command: list[str]
    cwd: Path
    is_ready: Callable[[], bool]
    stop_signal: signal.Signals = signal.SIGTERM
    before_start: Callable[[], None] = lambda: None
    is_forked: bool = False  # a Python program of the site, run in a fork of the launcher
    inherits_stdout: bool = False  # print to the launcher's terminal; errors still go to the log
