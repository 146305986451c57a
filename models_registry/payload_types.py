from typing import Literal, TypedDict

from common.payload_types import JsonObject, Moment

LicenseKind = Literal["", "open", "proprietary", "unknown"]
Status = Literal["", "active", "paused", "retired"]


class SpentPayload(TypedDict):
    """`spent`: US dollars, with those reserved for answers under way. `percent` of the `budget`; null without one."""

    spent: str
    budget: str | None
    percent: int | None


class EnergyPayload(TypedDict):
    """Estimated electricity in watt-hours and emissions in grams of CO₂ equivalent, as ranges."""

    wh_low: float
    wh_high: float
    co2e_g_low: float
    co2e_g_high: float


class ModelPayload(TypedDict):
    """A language model. `id` is its slug; prices are US dollars per million tokens, null while unknown; `icon` is the
    address of a square PNG; `energy` is that of an answer of 1,000 tokens, null if its size is unknown."""

    id: str
    name: str
    organization: str
    license: str
    license_kind: LicenseKind
    context_length: int | None
    abilities: list[str]
    # A name of an imported board that is no model here has an empty status and no version.
    status: Status
    price_input: str | None
    price_output: str | None
    version: int | None
    size_b: float | None
    icon: str | None
    energy: EnergyPayload | None


class PricePayload(TypedDict):
    """US dollars per million tokens since a time."""

    input: str
    output: str
    valid_from: Moment


class SetupPayload(TypedDict):
    """Setup of a version: the provider's name of the model, and all that is sent with each request."""

    model: str
    system_prompt: str
    parameters: JsonObject


class ModelVersionPayload(TypedDict):
    """A version of a model. `changes` names what differs from the version before, null if the operator hides it."""

    id: str
    name: str
    version: int
    status: Status
    created_at: Moment
    retired_at: Moment | None
    changes: list[str] | None


class ModelCardPayload(ModelPayload):
    """Everything public about a language model, newest price and version first; `prices` has those of earlier versions,
    too. `setup` is null if it is hidden."""

    provider: str
    retired_at: Moment | None
    prices: list[PricePayload]
    setup: SetupPayload | None
    versions: list[ModelVersionPayload]
