"""Talking to a model upstream. Everyone else knows `ChatProvider.stream()`, `Completion` and `ProviderError`."""

from models_registry.providers.base import ChatProvider, ChatRequest, Completion, FailureCode, ProviderError, Receive
from models_registry.providers.openai_compatible import OpenAICompatible

__all__ = ["ChatProvider", "ChatRequest", "Completion", "FailureCode", "OpenAICompatible", "ProviderError", "Receive"]
