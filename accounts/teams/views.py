from typing import cast
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.access import PageRequest, SignUp
from accounts.bans import refuse_banned
from accounts.errors import InvitationUsed, InvitedUnderAnotherAddress, SlugTaken
from accounts.models import Invitation, Role, TeamMember, User
from accounts.teams import actions
from accounts.teams.forms import InviteForm, RoleForm, TeamForm
from accounts.teams.places import (
    PARAMETER,
    choose_place,
    find_member,
    get_invitation,
    get_member,
    join_query,
    place_named,
)
from accounts.teams.roles import RIGHTS, Right, has_right, may_create_team
from common.errors import ArenaError, NotFound, NotSignedIn

MEMBERS_PER_PAGE = 50
NEWEST = 5


def team_context(member: TeamMember) -> dict[str, object]:
    """Return what teams/base.html needs, for each page of a team."""
    return {
        "team": member.team,
        "place_of_page": member.team,
        "member": member,
        "rights": RIGHTS[Role(member.role)],
        "operators_read": settings.ARENA_OPERATORS_READ_TEAMS,
    }


@login_required
@require_safe
def teams(request: PageRequest) -> HttpResponse:
    user = cast(User, request.user)
    context = {"memberships": user.memberships.values(), "may_create": may_create_team(user)}
    return render(request, "teams/list.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    user = cast(User, request.user)
    if not may_create_team(user):
        raise NotFound
    form = TeamForm(request.POST or None)
    if form.is_valid():
        try:
            return redirect(actions.create_team(by=user, owner=user, **form.cleaned_data))
        except SlugTaken as refusal:
            form.add_refusal(refusal)
    return render(request, "teams/new.html", {"form": form}, status=422 if form.is_bound else 200)


@login_required
@require_POST
def place(request: PageRequest) -> HttpResponse:
    choose_place(request, place_named(request.actor, request.POST.get(PARAMETER, "")))
    return redirect(_page_before(request))


def _page_before(request: HttpRequest) -> str:
    """Return the page that sent the form, without a place in its address, which would come before the choice."""
    url = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(url, allowed_hosts=None):
        return reverse("battles:new")
    parts = urlsplit(url)
    query = QueryDict(parts.query, mutable=True)
    query.pop(PARAMETER, None)
    return urlunsplit(parts._replace(query=query.urlencode()))


@login_required
@require_safe
def team(request: PageRequest, slug: str) -> HttpResponse:
    member = find_member(request.actor, slug, Right.SEE)
    members = TeamMember.objects.filter(team=member.team).select_related("user")
    context = {
        **team_context(member),
        "newest": members.order_by("-joined_at", "-pk")[:NEWEST],
        "owners": members.filter(role=Role.OWNER).order_by("joined_at", "pk"),
        "member_count": members.count(),
    }
    return render(request, "teams/team.html", context)


@login_required
@require_safe
def members(request: PageRequest, slug: str) -> HttpResponse:
    return _members_page(request, find_member(request.actor, slug, Right.SEE))


def _members_page(request: HttpRequest, member: TeamMember, *, refusal: str = "", status: int = 200) -> HttpResponse:
    rows = TeamMember.objects.filter(team=member.team).select_related("user").order_by("user__email")
    page = Paginator(rows, MEMBERS_PER_PAGE).get_page(request.GET.get("page"))
    context = {**team_context(member), "page_obj": page, "roles": Role.choices, "refusal": refusal}
    return render(request, "teams/members.html", context, status=status)


@login_required
@require_POST
def set_role(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    own = find_member(request.actor, slug, Right.OWN)
    other = get_member(own.team, public_id)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise NotFound  # not sent by our pages
    try:
        actions.set_role(by=cast(User, request.user), member=other, role=Role(form.cleaned_data["role"]))
    except ArenaError as refusal:
        return _members_page(request, own, refusal=refusal.detail, status=refusal.http_status)
    messages.success(request, _("The role of %(person)s is changed.") % {"person": other.user})
    return redirect("teams:members", slug)


@login_required
@require_POST
def remove(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    own = find_member(request.actor, slug, Right.OWN)
    other = get_member(own.team, public_id)
    if other.pk == own.pk:
        return leave(request, slug)
    try:
        actions.remove_member(by=cast(User, request.user), member=other)
    except ArenaError as refusal:
        return _members_page(request, own, refusal=refusal.detail, status=refusal.http_status)
    messages.success(request, _("%(person)s is no longer in the team.") % {"person": other.user})
    return redirect("teams:members", slug)


@login_required
@require_POST
def leave(request: PageRequest, slug: str) -> HttpResponse:
    own = find_member(request.actor, slug, right=None)
    try:
        actions.remove_member(by=cast(User, request.user), member=own)
    except ArenaError as refusal:
        return _members_page(request, own, refusal=refusal.detail, status=refusal.http_status)
    messages.success(request, _("You left the team %(team)s.") % {"team": own.team})
    return redirect("teams:list")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitations(request: PageRequest, slug: str) -> HttpResponse:
    """Only the response to the form contains the link."""
    own = find_member(request.actor, slug, Right.OWN)
    form, link, status = InviteForm(request.POST or None), "", 200
    if form.is_valid():
        try:
            _row, token = actions.invite(by=cast(User, request.user), team=own.team, **form.arguments)
        except ArenaError as refusal:
            form.add_error(None, refusal.detail)
            status = refusal.http_status
        else:
            form, link, status = InviteForm(), request.build_absolute_uri(_join_url(token)), 201
    elif form.is_bound:
        status = 422
    is_open = Invitation.objects.open().filter(team=own.team).order_by("-pk")
    context = {**team_context(own), "form": form, "link": link, "invitations": is_open}
    return render(request, "teams/invitations.html", context, status=status)


@login_required
@require_POST
def revoke(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    own = find_member(request.actor, slug, Right.OWN)
    actions.revoke_invitation(by=cast(User, request.user), invitation=get_invitation(own.team, public_id))
    messages.success(request, _("The link is revoked."))
    return redirect("teams:invitations", slug)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: PageRequest, slug: str) -> HttpResponse:
    own = find_member(request.actor, slug, Right.OWN)
    form = TeamForm(request.POST or None, initial={name: getattr(own.team, name) for name in TeamForm.Meta.fields})
    if form.is_valid():
        try:
            actions.change_team(by=cast(User, request.user), team=own.team, **form.cleaned_data)
        except SlugTaken as refusal:
            form.add_refusal(refusal)
        else:
            messages.success(request, _("The settings are saved."))
            return redirect("teams:settings", form.cleaned_data["slug"])
    context = {**team_context(own), "form": form}
    return render(request, "teams/settings.html", context, status=422 if form.is_bound else 200)


@login_required
@require_POST
def archive(request: PageRequest, slug: str) -> HttpResponse:
    own = find_member(request.actor, slug, Right.OWN)
    try:
        actions.archive_team(by=cast(User, request.user), team=own.team)
    except ArenaError as refusal:
        messages.error(request, refusal.detail)
        return redirect("teams:settings", slug)
    messages.success(request, _("The team %(team)s is archived.") % {"team": own.team})
    return redirect("teams:list")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: PageRequest) -> HttpResponse:
    """Show the team of a link, also to visitors, who sign up or sign in first; add the person to it."""
    token = request.POST.get("invitation") or request.GET.get("invitation", "")
    if member := _member_with(request, token):
        return _to_team(request, member)
    try:
        invitation = _find_invitation(request, token)
        if request.method == "POST":
            return _join(request, token)
    except (InvitationUsed, InvitedUnderAnotherAddress) as refusal:
        return render(request, "teams/join.html", {"refusal": refusal.detail}, status=refusal.http_status)
    assert invitation.team is not None
    query = urlencode({"next": _join_url(token)})
    context = {
        "invitation": invitation,
        "token": token,
        "signs_up": None
        if SignUp(settings.ARENA_SIGNUP) is SignUp.CLOSED
        else f"{reverse('account_signup')}?{join_query(token)}&{query}",
        "signs_in": f"{reverse('account_login')}?{query}",
    }
    return render(request, "teams/join.html", context)


def _join_url(token: str) -> str:
    return f"{reverse('teams:join')}?{join_query(token)}"


def _member_with(request: PageRequest, token: str) -> TeamMember | None:
    """Return the membership of the link's team, also if the link is used up: its last user comes here from sign-up."""
    memberships = request.actor.memberships
    invitation = Invitation.objects.with_token(token).filter(team__in=list(memberships)).first()
    return memberships[invitation.team_id] if invitation and invitation.team_id else None


def _find_invitation(request: PageRequest, token: str) -> Invitation:
    """Raises InvitationUsed, InvitedUnderAnotherAddress."""
    of_teams = Invitation.objects.open().exclude(team=None).select_related("team")
    invitation = of_teams.with_token(token).first()
    if invitation is None:
        raise InvitationUsed
    user = request.actor.user
    if user is not None and invitation.email and invitation.email != user.email.lower():
        raise InvitedUnderAnotherAddress
    return invitation


def _join(request: PageRequest, token: str) -> HttpResponse:
    if request.actor.user is None:
        raise NotSignedIn
    refuse_banned(request.actor, request)
    member = actions.join(user=request.actor.user, token=token)
    choose_place(request, member.team)
    return _to_team(request, member)


def _to_team(request: PageRequest, member: TeamMember) -> HttpResponse:
    messages.success(request, _("You are in the team %(team)s.") % {"team": member.team})
    return redirect(member.team if has_right(member.role, Right.SEE) else "teams:list")
