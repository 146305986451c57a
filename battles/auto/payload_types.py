from typing import Literal, NotRequired, TypedDict

from battles.auto.reasons import ReasonPayload
from models_registry.payload_types import EnergyPayload

RouteTarget = Literal["model", "arena", "stay", "fallback", "refused"]


class AlternativePayload(TypedDict):
    """Model that auto mode considered. `win_chance`: of winning against the others; `good_enough`: that its answer
    suffices alone; `cost` in US dollars, `first_token_ms` and `energy` are expected. Null while unknown."""

    model: str
    name: str
    win_chance: float | None
    good_enough: float | None
    cost: str | None
    first_token_ms: int | None
    energy: EnergyPayload | None


class RoutePayload(TypedDict):
    """Decision of auto mode. `target`: `model`, `stay` and `fallback` name one model, `arena` is a battle, whose models
    and alternatives are hidden until its vote. `confidence`: that the model is the best choice."""

    # The address of the team in stored decisions; missing in personal ones.
    team: NotRequired[str]
    decision: str
    target: RouteTarget
    model: str | None
    runner_up: str | None
    query_type: str
    confidence: float | None
    reason: ReasonPayload
    alternatives: list[AlternativePayload]
    policy: str


class BattleDecisionPayload(TypedDict):
    """Decision of auto mode behind a battle. Until the names are revealed, only the first three fields are present."""

    target: RouteTarget
    query_type: str
    reason: ReasonPayload
    decision: NotRequired[str]
    model: NotRequired[str | None]
    runner_up: NotRequired[str | None]
    confidence: NotRequired[float | None]
    alternatives: NotRequired[list[AlternativePayload]]
    policy: NotRequired[str]
