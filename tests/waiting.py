import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], within: float = 120) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, f"waited {within} s in vain"
        time.sleep(0.05)
