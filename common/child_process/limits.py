"""Limits of a guarded child process, which it sets before it reads anything."""

import resource
import signal

# All libraries of a child that `run_once` starts fit.
MEMORY_BYTES = 640 << 20
# Less than the timeout of `run_once`, so that the kernel ends most children.
RUN_CPU_S = 10
# Ends a child whose parent, which would have killed it by then, has died.
RUN_ALARM_S = 20


def limit_process(memory_bytes: int = MEMORY_BYTES) -> None:
    """Limit memory, past which Python raises MemoryError; forbid files and core dumps."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_CORE, 0)


def limit_run(cpu_s: int = RUN_CPU_S, alarm_s: int = RUN_ALARM_S) -> None:
    """Set the limits of a process that `run_once` starts. Past its CPU or elapsed time it is killed."""
    limit_process()
    _limit(resource.RLIMIT_CPU, cpu_s)
    signal.alarm(alarm_s)


def _limit(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, value))
