"""Limits of a guarded child process."""

import resource
import signal

CPU_S = 10
# Ends this process if the parent, which would have killed it by then, has died.
ALARM_S = 20
MEMORY_BYTES = 640 << 20


def set_limits() -> None:
    """Past its CPU time the process is killed, past its memory it gets a MemoryError."""
    for limit, value in [
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ]:
        resource.setrlimit(limit, (value, value))
    signal.alarm(ALARM_S)
