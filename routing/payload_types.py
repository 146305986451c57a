from typing import Literal, NotRequired, TypedDict

from battles.auto.payload_types import RoutePayload
from common.payload_types import Moment


class RouteContextPayload(TypedDict):
    """Facts that the caller stated; missing ones were not."""

    tools: NotRequired[bool]
    data_loaded: NotRequired[bool]
    workflow: NotRequired[str]


class DecisionOutcomePayload(TypedDict):
    """Outcome that an application reported: `good`, or which of the two models is `better`."""

    good: bool | None
    better: Literal["model", "runner_up"] | None
    created_at: Moment


class DecisionPayload(RoutePayload):
    """Stored decision. `session` and `battle`: those that it started. Expected costs are US dollars, of the model and
    of the best one; hidden with the models."""

    created_at: Moment
    session: str | None
    battle: str | None
    type_confidence: float
    categories: list[str]
    language: str
    context: RouteContextPayload
    dial: float
    explored: bool
    cost_expected: str | None
    cost_best: str | None
    outcome: DecisionOutcomePayload | None


class RouterHeadPayload(TypedDict):
    """Part of a router: used (`passed`) if the lower bound of its gain in log loss on held-out votes is above 0."""

    name: str
    passed: bool
    gain: float | None
    lower_bound: float | None
    scale: float | None


class RouterSnapshotPayload(TypedDict):
    """Training of auto mode. `prices`: chances of winning per US dollar, for 21 dials from 0 to 1; `trained_until`: the
    number of the last vote that it read; `board`: the snapshot of Overall."""

    id: str
    state: Literal["published", "few_votes", "worse", "failed"]
    method: str
    features_version: str
    board: str | None
    votes: int
    trained_until: int
    heads: list[RouterHeadPayload]
    prices: list[float]
    checksum: str
    seconds: float
    created_at: Moment
