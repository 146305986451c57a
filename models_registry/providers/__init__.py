"""Calls to model endpoints: `stream_contained()`, `Completion` and `ProviderError`.

This package does not import the provider modules, because they import the SDK, which only answer workers need.
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
