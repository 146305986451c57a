from dataclasses import dataclass

# Units of the SVG's view box.
BAR_WIDTH, CHART_HEIGHT = 10, 48


@dataclass(frozen=True)
class Bar:
    x: int
    y: float
    height: float
    number: int
    hours_ago: int


@dataclass(frozen=True)
class HourChart:
    bars: list[Bar]

    @property
    def width(self) -> int:
        return BAR_WIDTH * len(self.bars)

    @classmethod
    def of(cls, numbers: list[int]) -> "HourChart":
        """numbers: by hour, the newest last."""
        maximum = max(*numbers, 1)
        heights = [round(CHART_HEIGHT * number / maximum, 1) for number in numbers]
        return cls(
            [
                Bar(BAR_WIDTH * hour, CHART_HEIGHT - height, height, number, len(numbers) - 1 - hour)
                for hour, (number, height) in enumerate(zip(numbers, heights, strict=True))
            ]
        )
