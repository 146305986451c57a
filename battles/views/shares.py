from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.teams.places import find_member
from accounts.teams.roles import Right
from battles import actions
from battles.gallery.filters import GalleryFilterForm
from battles.gallery.listing import read_page
from battles.gallery.withdrawn import find_share
from battles.models import Battle, Session, Share
from battles.sessions.export import file_response
from battles.sessions.sharing import (
    as_session,
    share_description,
    share_title,
    shared_battle_page,
    team_session_battles,
)
from battles.views.battles import PageRequest, get_battle_or_404, page_battle
from common.errors import NotFound


def get_share_or_404(share_id: str) -> Share:
    share = find_share(share_id)
    if share is None:
        raise Http404
    return share


@require_safe
@never_cache  # an unpublished battle must not stay in caches
def shared(request: PageRequest, share_id: str) -> HttpResponse:
    share = get_share_or_404(share_id)
    battle = shared_battle_page(share)
    context = {
        "battle": battle,
        "share": share,
        "title": share_title(battle),
        "description": share_description(battle),
        "address": request.build_absolute_uri(share.get_absolute_url()),
        "is_indexed": settings.ARENA_INDEX_SHARED,
    }
    response = render(request, "battles/shared.html", context)
    return _with_robots_header(response)


@require_safe
@never_cache
def export_shared(request: PageRequest, share_id: str) -> HttpResponse:
    session = as_session(shared_battle_page(get_share_or_404(share_id)))
    return _with_robots_header(file_response(session, request.GET.get("as", "markdown"), name=f"battle-{share_id}"))


@login_required
@require_safe
@never_cache
def team_session(request: PageRequest, slug: str, public_id: str) -> HttpResponse:
    """Show a session that a member shares with the team; without battles that are still blind."""
    member = find_member(request.actor, slug, Right.SEE)
    shared = Session.objects.shared_with(member.team).select_related("owner_user")
    session = shared.filter(public_id=public_id).first() if "\x00" not in public_id else None
    if session is None:
        raise NotFound
    context = {
        "session_shown": session,
        "team": member.team,
        "place_of_page": member.team,
        "battles": team_session_battles(session),
    }
    return render(request, "battles/team_session.html", context)


def _with_robots_header(response: HttpResponse) -> HttpResponse:
    if not settings.ARENA_INDEX_SHARED:
        response["X-Robots-Tag"] = "noindex"
    return response


@require_POST
def publish(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    actions.publish(battle=battle)
    if request.POST.get("listed") == "1" and settings.ARENA_GALLERY:
        actions.list_in_gallery(battle=battle)
    return _sharing_fragment(request, public_id)


@require_POST
def withdraw(request: PageRequest, public_id: str) -> HttpResponse:
    actions.withdraw(battle=get_battle_or_404(request, public_id))
    return _sharing_fragment(request, public_id)


@require_POST
def list_in_gallery(request: PageRequest, public_id: str) -> HttpResponse:
    """List the page in the gallery, or take it out."""
    battle = get_battle_or_404(request, public_id)
    if request.POST.get("listed") != "1":
        actions.unlist(battle=battle)
    elif settings.ARENA_GALLERY:
        actions.list_in_gallery(battle=battle)
    else:
        raise Http404
    return _sharing_fragment(request, public_id)


@require_safe
@never_cache  # a withdrawn battle must not stay in caches
def gallery(request: PageRequest) -> HttpResponse:
    """Answer an invalid filter with 422 and its sentence."""
    if not settings.ARENA_GALLERY:
        raise Http404
    form = GalleryFilterForm(request.GET)
    is_valid = form.is_valid()
    context: dict[str, object] = {"form": form, "is_indexed": settings.ARENA_INDEX_SHARED}
    if is_valid:
        context["listed"] = read_page(form, after=request.GET.get("after", ""))
    return _with_robots_header(render(request, "battles/gallery.html", context, status=200 if is_valid else 422))


@require_POST
def withdraw_consent(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id)
    actions.withdraw_consent(Battle.objects.filter(pk=battle.pk))
    messages.success(request, _("Consent withdrawn. Later files leave out the prompts and answers of this battle."))
    return redirect(battle)


@require_POST
def withdraw_every_consent(request: PageRequest) -> HttpResponse:
    actions.withdraw_every_consent(request.actor)
    messages.success(request, _("Consent withdrawn. Later files leave out all of your prompts so far."))
    return redirect("battles:sessions")


def _sharing_fragment(request: PageRequest, public_id: str) -> HttpResponse:
    battle = get_battle_or_404(request, public_id, with_related=True)
    if not request.htmx:
        return redirect(battle)
    return render(request, "battles/sharing.html", {"battle": page_battle(battle), "was_changed": True})
