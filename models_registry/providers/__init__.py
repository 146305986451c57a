"""Talking to a model upstream. Everyone else knows `stream_contained()`, `Completion` and `ProviderError`.

The provider modules bring the SDK, which only answer workers need: they import them by name.
"""

from models_registry.providers.base import (
    ChatProvider,
    ChatRequest,
    Completion,
    FailureCode,
    ProviderError,
    Receive,
    stream_contained,
)

__all__ = ["ChatProvider", "ChatRequest", "Completion", "FailureCode", "ProviderError", "Receive", "stream_contained"]
