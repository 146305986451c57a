import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], within: float = 120) -> None:
    deadline, pause = time.monotonic() + within, 0.002
    while not condition():
        assert time.monotonic() < deadline, f"waited {within} s in vain"
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
