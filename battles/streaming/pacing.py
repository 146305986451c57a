"""How far both panes may be shown when neither may tell how quick its model is."""

from dataclasses import dataclass

# What is left of the longer answer is shown no slower than this (characters a second; about twice as fast as people
# read), so that a reader's wait ends. A slower model could be recognised by it, so it is below most models' speed.
LEAST_PACE = 50.0


@dataclass(frozen=True)
class Progress:
    """How many characters a side has said, and whether that is all."""

    said: int
    is_over: bool


class EqualPace:
    """Both panes are as far as the slower side while both speak; afterwards the longer answer goes on at that pace.

    So the reader sees two answers of different lengths grow alike, whichever model was quicker.
    """

    def __init__(self, now: float) -> None:
        self._began = self._looked_at = now
        self._reach = 0.0
        self._pace: float | None = None  # characters a second while both spoke; known once one is over

    def reach(self, sides: list[Progress], now: float) -> int:
        """How many characters of either side may be shown at `now` (seconds on a steady clock)."""
        speaking = [side.said for side in sides if not side.is_over]
        furthest = min(speaking) if speaking else max((side.said for side in sides), default=0)
        if len(speaking) == len(sides):
            self._reach = furthest
        else:
            if self._pace is None:
                self._pace = max(LEAST_PACE, self._reach / max(now - self._began, 0.001))
            self._reach = min(furthest, self._reach + self._pace * (now - self._looked_at))
        self._looked_at = now
        return int(self._reach)
