"""Models in the shapes of OpenAI's and Anthropic's lists."""

from collections.abc import Iterable
from datetime import UTC, datetime

from gateway.answers.battles import BATTLE
from gateway.answers.candidates import AUTO_MODELS
from gateway.payload_types import (
    AnthropicModelListPayload,
    AnthropicModelPayload,
    ModelListPayload,
    ModelPayload,
)
from models_registry.models import LanguageModel

VIRTUAL_MODELS = (*AUTO_MODELS, BATTLE)


def model_list_payload(models: Iterable[LanguageModel]) -> ModelListPayload:
    listed = [*map(virtual_payload, VIRTUAL_MODELS), *map(model_payload, models)]
    return {"object": "list", "data": listed}


def virtual_payload(name: str) -> ModelPayload:
    return {"id": name, "object": "model", "created": 0, "owned_by": "arena"}


def model_payload(model: LanguageModel) -> ModelPayload:
    created = int(model.created_at.timestamp())
    return {"id": model.full_slug, "object": "model", "created": created, "owned_by": model.organization or "arena"}


def anthropic_list_payload(models: Iterable[LanguageModel]) -> AnthropicModelListPayload:
    listed = [*map(anthropic_virtual_payload, VIRTUAL_MODELS), *map(anthropic_payload, models)]
    return {"data": listed, "has_more": False, "first_id": listed[0]["id"], "last_id": listed[-1]["id"]}


def anthropic_virtual_payload(name: str) -> AnthropicModelPayload:
    return {"type": "model", "id": name, "display_name": name, "created_at": datetime.fromtimestamp(0, UTC)}


def anthropic_payload(model: LanguageModel) -> AnthropicModelPayload:
    return {"type": "model", "id": model.full_slug, "display_name": model.name, "created_at": model.created_at}
