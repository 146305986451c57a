"""The person and their tokens, as OpenAPI describes them."""

from typing import Any, Literal, TypedDict

from accounts.api.serializers import NewTokenSerializer
from accounts.api.views import Browser, Browsers, Export, Me, OtherBrowsers, Token, Tokens
from accounts.errors import ConfirmFirst, LastAdministrator, ThisBrowser, TooManyTokens
from common.api.schema import Moment, Operation, Operations
from common.errors import TooManyRequests

ScopeName = Literal["read", "battle", "vote", "benchmark", "export"]


class Person(TypedDict):
    """Who is asking. `scopes` are the token's; null in a browser, which may do whatever its person may."""

    kind: Literal["member", "visitor"]
    email: str | None
    joined_at: Moment | None
    is_staff: bool
    scopes: list[ScopeName] | None


class SignedInBrowser(TypedDict):
    """Where you are signed in. What it does not tell of itself is empty; no network address is kept."""

    id: str
    browser: str
    system: str
    signed_in_at: Moment
    last_seen_at: Moment
    is_this_one: bool


class TokenSummary(TypedDict):
    """A token that is not revoked. Of itself only the last four characters are kept."""

    id: str
    name: str
    last_four: str
    scopes: list[ScopeName]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None


class NewlyMadeToken(TokenSummary):
    """With the token itself, this once: it is null when the request is repeated with its Idempotency-Key."""

    token: str | None


class Everything(TypedDict):
    """`sessions` and `uploads` are as the API shows them elsewhere."""

    exported_at: Moment
    account: dict[str, Any]
    tokens: list[TokenSummary]
    browsers: list[dict[str, Any]]
    bans: list[dict[str, Any]]
    sessions: list[dict[str, Any]]
    uploads: list[dict[str, Any]]
    reports: list[dict[str, Any]]


OPERATIONS: Operations = {
    (Me, "get"): Operation(
        summary="Who you are",
        description="A member, or a visitor of whom nothing is known; and what a token may do.",
        gives=Person,
    ),
    (Me, "delete"): Operation(
        summary="Delete your account",
        description=(
            "In a browser whose person has just typed the password again, at /accounts/reauthenticate/. What you wrote "
            "and uploaded goes, and all that says who you were; your votes stay, without a name."
        ),
        status=204,
        refuses=(ConfirmFirst, LastAdministrator),
    ),
    (Export, "get"): Operation(
        summary="Everything the arena knows of you",
        description="In a browser only. Your account, tokens, sessions and files; blind battles stay blind.",
        gives=Everything,
        refuses=(TooManyRequests,),
    ),
    (Browsers, "get"): Operation(
        summary="Where you are signed in, the last seen first",
        description="In a browser only. `last_seen_at` is noted once an hour.",
        gives=SignedInBrowser,
        is_list=True,
    ),
    (OtherBrowsers, "delete"): Operation(
        summary="Sign out every browser but this one", description="In a browser only. It works at once.", status=204
    ),
    (Browser, "delete"): Operation(
        summary="Sign out a browser",
        description="In a browser only, and one that is not this one. It works at once.",
        status=204,
        refuses=(ThisBrowser,),
    ),
    (Tokens, "get"): Operation(
        summary="Your tokens, the newest first",
        description="In a browser only. Those that are not revoked, also expired ones.",
        gives=TokenSummary,
        is_list=True,
    ),
    (Tokens, "post"): Operation(
        summary="Make a token",
        description="In a browser only: no token can make, see or revoke tokens.",
        takes=NewTokenSerializer,
        example={"name": "nightly battles", "scopes": ["read", "battle", "vote"]},
        gives=NewlyMadeToken,
        status=201,
        refuses=(TooManyTokens,),
    ),
    (Token, "delete"): Operation(
        summary="Revoke a token", description="In a browser only. It stops working at once.", status=204
    ),
}
