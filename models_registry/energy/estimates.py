"""Energy of answers, as ecologits estimates it (docs/adr/0093)."""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings

from common.cache import TTLCached
from models_registry.energy.checks import WORLD
from models_registry.energy.names import find_known
from models_registry.models import LanguageModel, Provider
from models_registry.payload_types import EnergyPayload
from models_registry.profiles import profile_of

if TYPE_CHECKING:
    from ecologits.model_repository import Model

Range = tuple[float, float]

# Boards and pages about models show an answer of this length.
SHOWN_TOKENS = 1_000
# ecologits' data centres for models of Hugging Face, which are served by many providers.
_ANY_DATA_CENTRE = "huggingface_hub"
_SIGNIFICANT_DIGITS = 4
# Less than any model takes for a token, in seconds.
_SHORT_S = 1e-4


class Architecture(NamedTuple):
    """Billions of parameters, and ecologits' name of the provider whose data centres are assumed.

    tokens_per_s, first_token_s: as measured for this model, None to compute them from its size.
    """

    active: Range
    total: Range
    data_centre: str = _ANY_DATA_CENTRE
    tokens_per_s: float | None = None
    first_token_s: float | None = None


class Energy(NamedTuple):
    """Watt-hours, and grams of CO₂ equivalent including the making of the hardware."""

    wh: Range
    co2e_g: Range

    def __add__(self, other: object) -> "Energy":
        assert isinstance(other, Energy)
        return Energy(_sum(self.wh, other.wh), _sum(self.co2e_g, other.co2e_g))

    def as_payload(self) -> EnergyPayload:
        low, high = self.wh
        co2e_low, co2e_high = self.co2e_g
        return {
            "wh_low": _rounded(low), "wh_high": _rounded(high),
            "co2e_g_low": _rounded(co2e_low), "co2e_g_high": _rounded(co2e_high),
        }  # fmt: skip


def estimate(model: LanguageModel, completion_tokens: int | None, total_ms: int | None = None) -> Energy | None:
    """Return the energy of an answer with its reasoning, None if its tokens or the model's size are unknown.

    total_ms: None for an answer that takes as long as ecologits expects.
    """
    if not completion_tokens:
        return None
    architecture = architecture_of(model)
    if architecture is None:
        return None
    return estimate_tokens(architecture, completion_tokens, None if total_ms is None else total_ms / 1000)


def energy_of_model(model: LanguageModel) -> EnergyPayload | None:
    """Return the energy of SHOWN_TOKENS: a constant of the model, which no battle moves."""
    energy = estimate(model, SHOWN_TOKENS)
    return None if energy is None else energy.as_payload()


def energy_of_answer(model: LanguageModel, completion_tokens: int | None, total_ms: int | None) -> EnergyPayload | None:
    energy = estimate(model, completion_tokens, total_ms)
    return None if energy is None else energy.as_payload()


def sum_of(energies: list[EnergyPayload]) -> EnergyPayload | None:
    if not energies:
        return None
    return {
        "wh_low": sum(each["wh_low"] for each in energies),
        "wh_high": sum(each["wh_high"] for each in energies),
        "co2e_g_low": sum(each["co2e_g_low"] for each in energies),
        "co2e_g_high": sum(each["co2e_g_high"] for each in energies),
    }


def architecture_of(model: LanguageModel) -> Architecture | None:
    """Return the operator's figures, or those of ecologits' list for the upstream name."""
    profile = profile_of(model.pk)
    if profile.active_b is not None:
        active = float(profile.active_b)
        total = active if model.size_b is None else max(active, float(model.size_b))
        return Architecture((active, active), (total, total))
    if profile.hides_setup:  # a size would tell the upstream name
        return None
    if profile.energy_name:
        return _known_architecture(profile.energy_name)
    known = _known_architecture(model.upstream_name)
    # ecologits assumes large GPUs that answer 64 requests at once, which a server of one's own may not be.
    return None if known is None or model.provider_id in local_providers() else known


def _load_local_providers() -> frozenset[int]:
    providers = Provider.of_every_owner.only("pk", "base_url", "kind", "team")
    return frozenset(provider.pk for provider in providers if provider.is_local)


# Payloads have models without their providers.
local_providers = TTLCached(_load_local_providers, ttl_s=10, invalidated_by=(Provider,))


@lru_cache(maxsize=4096)
def _known_architecture(name: str) -> Architecture | None:
    known = find_known(name)
    return None if known is None else _architecture(known)


def _architecture(known: "Model") -> Architecture:
    parameters, deployment = known.architecture.parameters, known.deployment
    active, total = getattr(parameters, "active", parameters), getattr(parameters, "total", parameters)
    return Architecture(
        _range(active), _range(total), known.provider.value,
        deployment.tps if deployment else None, deployment.ttft if deployment else None,
    )  # fmt: skip


def estimate_tokens(architecture: Architecture, tokens: int, total_s: float | None) -> Energy:
    """Return ecologits' estimate, from its coefficients: one of its own calls takes half a millisecond."""
    coefficients = _coefficients(architecture, settings.ARENA_ELECTRICITY_ZONE)
    low, high, co2e_low, co2e_high = (each.at(tokens, total_s) for each in coefficients)
    return Energy((low, high), (co2e_low, co2e_high))


class _Coefficients(NamedTuple):
    """Coefficients of a figure, which is linear in the tokens and in the server's time.

    The server's time is what the tokens are expected to take, at most that of the request.
    """

    per_token: float
    per_second: float
    expected_start: float
    expected_per_token: float

    def at(self, tokens: int, total_s: float | None) -> float:
        time = self.expected_start + self.expected_per_token * tokens
        if total_s is not None:
            time = min(time, self.per_second * total_s)
        return self.per_token * tokens + time


@lru_cache(maxsize=4096)
def _coefficients(architecture: Architecture, zone: str) -> list[_Coefficients]:
    """Return those of low and high Wh, and of low and high g CO₂e, from four calls of ecologits."""
    at_once = _impacts(architecture, zone, tokens=1, total_s=0)
    briefly = _impacts(architecture, zone, tokens=1, total_s=_SHORT_S)
    none = _impacts(architecture, zone, tokens=0, total_s=None)
    one = _impacts(architecture, zone, tokens=1, total_s=None)
    return [
        _Coefficients(
            per_token=at_once[place],
            per_second=(briefly[place] - at_once[place]) / _SHORT_S,
            expected_start=none[place],
            expected_per_token=one[place] - none[place] - at_once[place],
        )
        for place in range(4)
    ]


def _impacts(architecture: Architecture, zone: str, *, tokens: int, total_s: float | None) -> tuple[float, ...]:
    """Return low and high Wh, low and high g CO₂e."""
    from ecologits.electricity_mix_repository import electricity_mixes
    from ecologits.impacts.llm import compute_llm_impacts
    from ecologits.tracers.utils import PROVIDER_CONFIG_MAP
    from ecologits.utils.range_value import RangeValue

    # An unknown zone is an error of models_registry.energy.checks; pages go on.
    mix = electricity_mixes.find_electricity_mix(zone) or electricity_mixes.find_electricity_mix(WORLD)
    assert mix is not None
    data_centre = PROVIDER_CONFIG_MAP[architecture.data_centre]
    impacts = compute_llm_impacts(
        model_active_parameter_count=RangeValue(min=architecture.active[0], max=architecture.active[1]),
        model_total_parameter_count=RangeValue(min=architecture.total[0], max=architecture.total[1]),
        output_token_count=tokens,
        request_latency=total_s,
        if_electricity_mix_adpe=mix.adpe,
        if_electricity_mix_pe=mix.pe,
        if_electricity_mix_gwp=mix.gwp,
        if_electricity_mix_wue=mix.wue,
        datacenter_pue=data_centre.datacenter_pue,
        datacenter_wue=data_centre.datacenter_wue,
        tps=architecture.tokens_per_s,
        ttft=architecture.first_token_s,
    )
    thousandths = [1000 * bound for figure in (impacts.energy, impacts.gwp) for bound in _range(figure.value)]
    return tuple(thousandths)


def _range(value: object) -> Range:
    """Return the bounds of ecologits' RangeValue, or a number twice."""
    if isinstance(value, int | float):
        return float(value), float(value)
    return float(value.min), float(value.max)  # type: ignore[attr-defined]


def _sum(one: Range, other: Range) -> Range:
    return one[0] + other[0], one[1] + other[1]


def _rounded(amount: float) -> float:
    return float(f"{amount:.{_SIGNIFICANT_DIGITS}g}")
