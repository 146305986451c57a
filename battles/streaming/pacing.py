from dataclasses import dataclass

# Characters a second at which the rest of the longer answer is shown at least, about twice the speed of reading. Slower
# models could be recognised by it, so it is below most models' speed.
MIN_PACE = 50.0


@dataclass(frozen=True)
class Progress:
    characters: int
    is_finished: bool


class EqualPace:
    """Shows two answers alike, so that neither reveals its model's speed.

    Both are as long as the slower one; once one is finished, the other continues at that pace.
    """

    def __init__(self, now: float) -> None:
        self._began = self._updated_at = now
        self._visible = 0.0
        self._pace: float | None = None  # characters a second; set when one answer is finished

    def visible_characters(self, sides: list[Progress], now: float) -> int:
        """Return how many characters of each side to show at `now` (seconds, monotonic)."""
        growing = [side.characters for side in sides if not side.is_finished]
        limit = min(growing) if growing else max((side.characters for side in sides), default=0)
        if len(growing) == len(sides):
            self._visible = limit
        else:
            if self._pace is None:
                self._pace = max(MIN_PACE, self._visible / max(now - self._began, 0.001))
            self._visible = min(limit, self._visible + self._pace * (now - self._updated_at))
        self._updated_at = now
        return int(self._visible)
