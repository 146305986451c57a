"""Calls to model endpoints: `stream_contained()`, `Completion` and `ProviderError`.

Provider modules are not imported here: they import the SDK, which only answer workers need.
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
