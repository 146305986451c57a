"""Use of API tokens in the gateway, which the gateway's app knows."""

from collections import defaultdict
from collections.abc import Mapping
from typing import cast

from django.dispatch import Signal

from accounts.models import User
from accounts.payload_types import TokenUsagePayload

USAGE_DAYS = 30

# Sent with `user`; the one receiver returns {id of an ApiToken: TokenUsagePayload}.
token_usage_requested = Signal()


def no_usage() -> TokenUsagePayload:
    return {"days": USAGE_DAYS, "requests": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost": "0"}


def token_usage_of(user: User) -> Mapping[int, TokenUsagePayload]:
    """Return usage by the token's id. One query."""
    [(_receiver, usage)] = token_usage_requested.send(sender=User, user=user)
    return defaultdict(no_usage, cast("dict[int, TokenUsagePayload]", usage))
