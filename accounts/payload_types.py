"""Members, their tokens and their data as pages, API and OpenAPI show them."""

from typing import Literal, TypedDict

from common.payload_types import JsonObject, Moment

ScopeName = Literal["read", "battle", "vote", "benchmark", "export"]
PersonKind = Literal["member", "visitor"]


class PersonPayload(TypedDict):
    """Who is asking. `scopes` are the token's; null in a browser, which may do whatever its person may."""

    kind: PersonKind
    email: str | None
    joined_at: Moment | None
    is_staff: bool
    scopes: list[ScopeName] | None


class SignedInBrowserPayload(TypedDict):
    """Where you are signed in. What it does not tell of itself is empty; no network address is kept."""

    id: str
    browser: str
    system: str
    signed_in_at: Moment
    last_seen_at: Moment
    is_this_one: bool


class TokenSummaryPayload(TypedDict):
    """A token that is not revoked. Of itself only the last four characters are kept."""

    id: str
    name: str
    last_four: str
    scopes: list[ScopeName]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class NewlyMadeTokenPayload(TokenSummaryPayload):
    """With the token itself, this once: it is null when the request is repeated with its Idempotency-Key."""

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
