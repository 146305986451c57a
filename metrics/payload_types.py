from typing import Literal, NotRequired, TypedDict


class MetricPointPayload(TypedDict):
    """`at`: first day of the bucket, UTC. `n`: what the value is of. `value`: null without any, before it is counted,
    and where it is about fewer than five persons (`few`). `unfinished`: the bucket has not ended, or what it counts may
    still come. `projected`: its sum if the days to come are as the mean of its whole days."""

    at: str
    value: float | None
    n: int
    low: NotRequired[float]
    high: NotRequired[float]
    few: NotRequired[bool]
    unfinished: NotRequired[bool]
    projected: NotRequired[float]


class MetricLinePayload(TypedDict):
    """`key`: value of `by`, a model's id for models; null without `by`."""

    key: str | None
    name: str
    points: list[MetricPointPayload]


BucketName = Literal["day", "week", "month"]


class MetricSeriesPayload(TypedDict):
    """`bucket`: the time of a point."""

    metric: str
    unit: str
    definition: str
    bucket: BucketName
    series: list[MetricLinePayload]


class MetricPayload(TypedDict):
    """`by`: dimensions of `by`, and of filters but for team. `buckets`: others do not exist."""

    metric: str
    name: str
    unit: str
    definition: str
    kind: str
    by: list[str]
    buckets: list[BucketName]
    adds_up: bool


class CataloguePayload(TypedDict):
    metrics: list[MetricPayload]
