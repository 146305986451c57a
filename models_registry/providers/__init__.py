"""Talking to a model upstream. Everyone else knows `ChatProvider.stream()`, `Completion` and `ProviderError`.

The provider modules bring the SDK, which only answer workers need: they import them by name.
"""

from models_registry.providers.base import ChatProvider, ChatRequest, Completion, FailureCode, ProviderError, Receive

__all__ = ["ChatProvider", "ChatRequest", "Completion", "FailureCode", "ProviderError", "Receive"]
