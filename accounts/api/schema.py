from accounts.api.serializers import NewTokenSerializer
from accounts.api.views import Browser, Browsers, Export, Me, OtherBrowsers, Token, Tokens
from accounts.errors import ConfirmFirst, LastAdministrator, ThisBrowser, TooManyTokens
from accounts.payload_types import EverythingPayload
from common.api.schema import Operation, Operations
from common.errors import TooManyRequests

OPERATIONS: Operations = {
    (Me, "get"): Operation(
        summary="Who you are",
        description="A member or an anonymous visitor, the scopes of the token, and what is left of your limits: "
        "`action` is `battle`, `turn` (follow-ups), `vote`, `star`, `report`, `upload`, `read` or `export`.",
    ),
    (Me, "delete"): Operation(
        summary="Delete your account",
        description=(
            "In a browser whose person has just typed the password again, at /accounts/reauthenticate/. What you wrote "
            "and uploaded goes, and all that says who you were; your votes stay, without a name."
        ),
        refuses=(ConfirmFirst, LastAdministrator),
    ),
    (Export, "get"): Operation(
        summary="All data that the arena has about you",
        description="In a browser only. Your account, tokens, sessions and files; blind battles stay blind.",
        files=(EverythingPayload,),
        refuses=(TooManyRequests,),
    ),
    (Browsers, "get"): Operation(
        summary="Where you are signed in, the last seen first",
        description="In a browser only. `last_seen_at` is noted once an hour.",
    ),
    (OtherBrowsers, "delete"): Operation(
        summary="Sign out every browser but this one",
        description="In a browser only. Takes effect immediately.",
    ),
    (Browser, "delete"): Operation(
        summary="Sign out a browser",
        description="In a browser only, and one that is not this one. Takes effect immediately.",
        refuses=(ThisBrowser,),
    ),
    (Tokens, "get"): Operation(
        summary="Your tokens, the newest first",
        description="In a browser only. Those that are not revoked, also expired ones.",
    ),
    (Tokens, "post"): Operation(
        summary="Create a token",
        description="In a browser only: tokens cannot create, list or revoke tokens.",
        takes=NewTokenSerializer,
        example={"name": "nightly battles", "scopes": ["read", "battle", "vote"]},
        refuses=(TooManyTokens,),
    ),
    (Token, "delete"): Operation(
        summary="Revoke a token", description="In a browser only. It stops working immediately."
    ),
}
