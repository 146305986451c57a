from collections.abc import Mapping
from typing import Literal, cast

from accounts.actor import Actor
from accounts.limiting.usage import limit_payloads, today_payload
from accounts.models import ApiToken, Invitation, Scope, SignIn, TeamMember
from accounts.payload_types import (
    ColourName,
    PersonPayload,
    RoleName,
    ScopeName,
    SignedInBrowserPayload,
    TeamInvitationPayload,
    TeamMemberPayload,
    TeamPayload,
    TokenSummaryPayload,
    TokenUsagePayload,
)


def person_payload(actor: Actor) -> PersonPayload:
    user = actor.user
    scopes = None if actor.scopes is None else [scope for scope in Scope if scope in actor.scopes]
    return {
        "kind": actor.kind,
        "email": user.email if user else None,
        "joined_at": user.date_joined if user else None,
        "is_staff": user.has_staff_rights if user else False,
        "scopes": cast("list[ScopeName] | None", scopes),
        "limits": limit_payloads(actor.limit_keys, kind=actor.kind),
        "today": today_payload(actor),
    }


def browser_payload(row: SignIn, *, current_session: str | None) -> SignedInBrowserPayload:
    return {
        "id": row.public_id,
        "browser": row.browser,
        "system": row.system,
        "signed_in_at": row.signed_in_at,
        "last_seen_at": row.last_seen_at,
        "is_this_one": row.session_id == current_session,
    }


def token_payload(row: ApiToken, usage: Mapping[int, TokenUsagePayload]) -> TokenSummaryPayload:
    """usage: from token_usage.token_usage_of."""
    payload: TokenSummaryPayload = {
        "id": row.public_id,
        "name": row.name,
        "last_four": row.last_four,
        "scopes": cast("list[ScopeName]", row.scopes),
        "keeps_texts": row.keeps_texts,
        "caches_answers": row.caches_answers,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "last_used_at": row.last_used_at,
        "usage": usage[row.pk],
    }
    if row.team is not None:
        payload["team"] = row.team.slug
    return payload


def team_payload(member: TeamMember) -> TeamPayload:
    """member: from a queryset with_member_count()."""
    return {
        "slug": member.team.slug,
        "name": member.team.name,
        "colour": cast("ColourName", member.team.colour),
        "role": cast("RoleName", member.role),
        "members": member.member_count,  # type: ignore[attr-defined]
        "created_at": member.team.created_at,
    }


def team_member_payload(member: TeamMember) -> TeamMemberPayload:
    return {
        "id": member.public_id or "",
        "email": member.user.email,
        "role": cast("RoleName", member.role),
        "origin": cast('Literal["hand", "invitation", "issuer"]', member.origin),
        "joined_at": member.joined_at,
    }


def team_invitation_payload(invitation: Invitation) -> TeamInvitationPayload:
    return {
        "id": invitation.public_id or "",
        "role": cast("RoleName", invitation.role),
        "uses_left": invitation.uses_left,
        "email": invitation.email,
        "created_at": invitation.created_at,
        "expires_at": invitation.expires_at,
    }
