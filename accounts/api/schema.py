from accounts.api.serializers import (
    ChangeTeamSerializer,
    NewInvitationSerializer,
    NewTeamSerializer,
    NewTokenSerializer,
    RoleSerializer,
)
from accounts.api.teams import Invitations, Member, Members, OneInvitation, OneTeam, Teams
from accounts.api.views import Browser, Browsers, Export, Me, OtherBrowsers, Token, Tokens
from accounts.errors import (
    ConfirmFirst,
    LastAdministrator,
    LastOwner,
    ThisBrowser,
    TooManyInvitations,
    TooManyTokens,
)
from accounts.payload_types import EverythingPayload
from common.api.schema import Operation, Operations
from common.errors import TooManyRequests

_OWNERS = "In a browser only; for owners of the team."

OPERATIONS: Operations = {
    (Teams, "get"): Operation(
        summary="Teams that you are in", description="A team's token lists its own team only, a personal one none."
    ),
    (Teams, "post"): Operation(
        summary="Create a team",
        description="In a browser only. For administrators, or where the arena allows it (`ARENA_TEAMS`) for every "
        "member. You become its owner.",
        takes=NewTeamSerializer,
        example={"name": "Physics", "slug": "physics-1", "colour": "teal"},
    ),
    (OneTeam, "get"): Operation(
        summary="A team", description="404 for teams that you are not in, as for those that do not exist."
    ),
    (OneTeam, "patch"): Operation(
        summary="Change a team's name, address or colour",
        description=f"{_OWNERS} Fields that are not sent stay unchanged.",
        takes=ChangeTeamSerializer,
        example={"name": "Physics, first year"},
    ),
    (Members, "get"): Operation(summary="Members of a team", description="The longest-serving first."),
    (Member, "patch"): Operation(
        summary="Change a member's role",
        description=_OWNERS,
        takes=RoleSerializer,
        example={"role": "manager"},
        refuses=(LastOwner,),
    ),
    (Member, "delete"): Operation(
        summary="Remove a member, or leave",
        description="In a browser only; for owners, and for yourself. The tokens of the membership stop working "
        "immediately; the person's own sessions stay theirs.",
        refuses=(LastOwner,),
    ),
    (Invitations, "get"): Operation(
        summary="Links into a team that still work", description="For owners. The newest first, without their tokens."
    ),
    (Invitations, "post"): Operation(
        summary="Make a link into a team",
        description=f"{_OWNERS} Up to 1,000 people can use it.",
        takes=NewInvitationSerializer,
        example={"role": "member", "uses": 40, "days": 7},
        refuses=(TooManyInvitations,),
    ),
    (OneInvitation, "delete"): Operation(
        summary="Revoke a link into a team", description=f"{_OWNERS} It stops working immediately."
    ),
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
