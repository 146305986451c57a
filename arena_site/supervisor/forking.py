"""Forks of the launcher import modules once and share their memory."""

import gc
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import IO

from setproctitle import setproctitle

from arena_site.embedded.program import Program

# Modules that Celery's commands, a web process and the answer worker's engine import.
MODULES = (
    "celery.bin.celery",
    "celery.apps.worker",
    "celery.apps.beat",
    "celery.worker.consumer",
    "celery.concurrency.thread",
    "kombu.transport.redis",
    "arena_site.urls",
    "arena_site.site_handler",
    "arena_site.embedded.connections",
    "uvicorn",
    "uvloop",
    "battles.worker.runner",
)
# Python's default of 700 new objects collects garbage every few requests, of which there is little.
GC_THRESHOLDS = (10_000, 20, 20)
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}  # handled by the launcher
_forks = multiprocessing.get_context("fork")


def preload() -> None:
    """Leave a faulty setting to the first program, whose log names it."""
    with suppress(Exception):
        import django

        from arena_site.celery import app
        from common.tracing import service

        django.setup()
        app.loader.import_default_modules()
        for name in MODULES:
            import_module(name)
        service.preload()
        _resolve_paths()
    gc.collect()
    gc.freeze()  # a collection in a fork would write to, and so copy, the shared memory
    gc.set_threshold(*GC_THRESHOLDS)


def _resolve_paths() -> None:
    # Fills Django's tables, which each thread of a first crowd would fill.
    from django.conf import settings
    from django.urls import reverse
    from django.utils.translation import override

    for code, _name in settings.LANGUAGES:
        with override(code):
            reverse("battles:new")


class ForkedProcess:
    """Fork in its own session, with the methods of Popen that Child needs."""

    def __init__(self, program: Program, log: IO[bytes]) -> None:
        self._process = _forks.Process(target=_run, args=(program, log.fileno()))
        with _blocked_signals():
            self._process.start()
        self.pid: int = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> None:
        """Raises TimeoutExpired."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Hold back signals until a fork has its own handlers: the launcher's would only set its event."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


def _run(program: Program, log: int) -> None:
    """Run in the fork what `python <arguments>` would run."""
    os.setsid()
    os.chdir(program.cwd)
    os.dup2(log, 2)
    if not program.inherits_stdout:
        os.dup2(log, 1)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in SIGNALS - {signal.SIGINT}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    setproctitle(" ".join(program.command))
    _python, *arguments = program.command
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
