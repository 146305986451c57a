from typing import Literal, TypedDict

from common.payload_types import JsonObject, Moment

ScopeName = Literal["read", "battle", "vote", "benchmark", "export"]
PersonKind = Literal["member", "visitor"]


class PersonPayload(TypedDict):
    """The person behind the request. `scopes` are the token's; null in a browser, which has all the person's rights."""

    kind: PersonKind
    email: str | None
    joined_at: Moment | None
    is_staff: bool
    scopes: list[ScopeName] | None


class SignedInBrowserPayload(TypedDict):
    """A browser in which you are signed in. Its name and system are empty when unknown; no IP address is stored."""

    id: str
    browser: str
    system: str
    signed_in_at: Moment
    last_seen_at: Moment
    is_this_one: bool


class TokenSummaryPayload(TypedDict):
    """A token that is not revoked. Only the last four of its characters are stored."""

    id: str
    name: str
    last_four: str
    scopes: list[ScopeName]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class NewlyMadeTokenPayload(TokenSummaryPayload):
    """A new token. `token` is shown once: it is null when the request is repeated with its Idempotency-Key."""

    token: str | None


class EverythingPayload(TypedDict):
    """`sessions` and `uploads` are as the API shows them elsewhere."""

    exported_at: Moment
    account: JsonObject
    tokens: list[TokenSummaryPayload]
    browsers: list[JsonObject]
    bans: list[JsonObject]
    sessions: list[JsonObject]
    uploads: list[JsonObject]
    reports: list[JsonObject]
    terms: list[JsonObject]
