from collections.abc import Iterable

from gateway.answers.battles import BATTLE
from gateway.candidates import AUTO_MODELS
from gateway.payload_types import ModelListPayload, ModelPayload
from models_registry.models import LanguageModel

VIRTUAL_MODELS = (*AUTO_MODELS, BATTLE)


def model_list_payload(models: Iterable[LanguageModel]) -> ModelListPayload:
    return {"object": "list", "data": [*map(_virtual_payload, VIRTUAL_MODELS), *map(_payload, models)]}


def model_payload(name: str, models: Iterable[LanguageModel]) -> ModelPayload | None:
    if name in VIRTUAL_MODELS:
        return _virtual_payload(name)
    return next((_payload(model) for model in models if model.slug == name), None)


def _virtual_payload(name: str) -> ModelPayload:
    return {"id": name, "object": "model", "created": 0, "owned_by": "arena"}


def _payload(model: LanguageModel) -> ModelPayload:
    created = int(model.created_at.timestamp())
    return {"id": model.slug, "object": "model", "created": created, "owned_by": model.organization or "arena"}
