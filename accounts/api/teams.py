from datetime import timedelta
from typing import cast

from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.actor import Actor, ActorRequest
from accounts.api.idempotency import ShownOnce, idempotent
from accounts.api.serializers import (
    ChangeTeamSerializer,
    NewInvitationSerializer,
    NewTeamSerializer,
    RoleSerializer,
)
from accounts.models import Invitation, Role, TeamMember, User
from accounts.payload_types import (
    NewTeamInvitationPayload,
    TeamInvitationPayload,
    TeamMemberPayload,
    TeamPayload,
)
from accounts.payloads import team_invitation_payload, team_member_payload, team_payload
from accounts.teams import actions
from accounts.teams.places import find_member, get_invitation, get_member, join_query
from accounts.teams.roles import Right, may_create_team
from common.api.serializers import validated_data
from common.api_responses import Created, NoContent, PayloadResponse, paginated
from common.errors import NotAllowed
from common.payload_types import Page

# A token has no scope for members and roles: a stolen one must not give rights that last longer.
WRITES = ("POST", "PATCH", "DELETE")


def _actor(request: Request) -> Actor:
    return cast(ActorRequest, request._request).actor


def _payload(pk: int) -> TeamPayload:
    return team_payload(TeamMember.objects.select_related("team").with_member_count().get(pk=pk))


class Teams(APIView):
    in_browser = WRITES

    def get(self, request: Request) -> PayloadResponse[Page[TeamPayload]]:
        own = [member.pk for member in _actor(request).memberships.values()]
        members = TeamMember.objects.filter(pk__in=own).select_related("team").with_member_count()
        return paginated(members.order_by("team__name", "team"), request, team_payload)

    @idempotent
    def post(self, request: Request) -> Created[TeamPayload]:
        user = cast(User, request.user)
        if not may_create_team(user):
            raise NotAllowed
        team = actions.create_team(by=user, owner=user, **validated_data(NewTeamSerializer, request.data))
        return Created(_payload(team.members.get().pk))


class OneTeam(APIView):
    in_browser = WRITES

    def get(self, request: Request, slug: str) -> PayloadResponse[TeamPayload]:
        return PayloadResponse(_payload(find_member(_actor(request), slug, Right.SEE).pk))

    def patch(self, request: Request, slug: str) -> PayloadResponse[TeamPayload]:
        own = find_member(_actor(request), slug, Right.OWN)
        values = {name: getattr(own.team, name) for name in ("name", "slug", "colour")}
        changes = validated_data(ChangeTeamSerializer, request.data)
        actions.change_team(by=cast(User, request.user), team=own.team, **{**values, **changes})
        return PayloadResponse(_payload(own.pk))


class Members(APIView):
    def get(self, request: Request, slug: str) -> PayloadResponse[Page[TeamMemberPayload]]:
        own = find_member(_actor(request), slug, Right.SEE)
        members = TeamMember.objects.filter(team=own.team).select_related("user").order_by("joined_at", "pk")
        return paginated(members, request, team_member_payload)


class Member(APIView):
    in_browser = WRITES

    def patch(self, request: Request, slug: str, public_id: str) -> PayloadResponse[TeamMemberPayload]:
        own = find_member(_actor(request), slug, Right.OWN)
        role = Role(validated_data(RoleSerializer, request.data)["role"])
        member = get_member(own.team, public_id)
        actions.set_role(by=cast(User, request.user), member=member, role=role)
        return PayloadResponse(team_member_payload(get_member(own.team, public_id)))

    def delete(self, request: Request, slug: str, public_id: str) -> NoContent:
        own = find_member(_actor(request), slug, right=None)
        if own.public_id != public_id:  # everyone may leave
            find_member(_actor(request), slug, Right.OWN)
        actions.remove_member(by=cast(User, request.user), member=get_member(own.team, public_id))
        return NoContent()


class Invitations(APIView):
    in_browser = WRITES

    def get(self, request: Request, slug: str) -> PayloadResponse[Page[TeamInvitationPayload]]:
        own = find_member(_actor(request), slug, Right.OWN)
        is_open = Invitation.objects.open().filter(team=own.team).order_by("-pk")
        return paginated(is_open, request, team_invitation_payload)

    @idempotent
    def post(self, request: Request, slug: str) -> Created[NewTeamInvitationPayload]:
        own = find_member(_actor(request), slug, Right.OWN)
        data = validated_data(NewInvitationSerializer, request.data)
        expires_at = timezone.now() + timedelta(days=data.pop("days"))
        row, token = actions.invite(
            by=cast(User, request.user), team=own.team, **{**data, "role": Role(data["role"])}, expires_at=expires_at
        )
        url = request._request.build_absolute_uri(f"{reverse('teams:join')}?{join_query(token)}")
        payload: NewTeamInvitationPayload = {**team_invitation_payload(row), "url": ShownOnce(url)}
        return Created(payload)


class OneInvitation(APIView):
    in_browser = WRITES

    def delete(self, request: Request, slug: str, public_id: str) -> NoContent:
        own = find_member(_actor(request), slug, Right.OWN)
        actions.revoke_invitation(by=cast(User, request.user), invitation=get_invitation(own.team, public_id))
        return NoContent()
