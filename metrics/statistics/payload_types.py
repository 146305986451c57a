from typing import Literal, NotRequired, TypedDict

FigureName = Literal["battles", "people", "votes", "languages", "categories"]


class StatisticsPointPayload(TypedDict):
    """`at`: first day of the bucket, UTC. `value`: null where it is about fewer than five persons (`few`), would tell
    such a value of another line, or is not counted yet. `unfinished`: the bucket has not ended."""

    at: str
    value: int | None
    few: NotRequired[bool]
    unfinished: NotRequired[bool]


class StatisticsLinePayload(TypedDict):
    """`key`: a language or category; null in figures with one line."""

    key: str | None
    name: str
    points: list[StatisticsPointPayload]


class StatisticsFigurePayload(TypedDict):
    figure: FigureName
    definition: str
    bucket: Literal["day", "week", "month"]
    series: list[StatisticsLinePayload]


class StatisticsAgreementPayload(TypedDict):
    """Share of cases in which two people name the same winner of a battle, with its 95 % interval."""

    value: float
    low: float
    high: float
    pairs: int
    battles: int


class StatisticsPayload(TypedDict):
    """Figures of the arena without its teams and reviews. `agreement`: of second opinions; null while there are few."""

    first_day: str
    last_day: str
    figures: list[StatisticsFigurePayload]
    agreement: StatisticsAgreementPayload | None
