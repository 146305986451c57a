from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import actions
from accounts.actor import ActorRequest
from accounts.forms import DeleteForm, TokenForm
from accounts.limiting.usage import limit_rows, today_payload
from accounts.models import ApiToken, SignIn, User
from accounts.personal_data import personal_data_response
from accounts.sign_in.sessions import active_sign_ins
from accounts.teams.actions import teams_left_by
from accounts.teams.places import chosen_place, place_named, usable_teams
from accounts.token_usage import token_usage_of
from common.errors import NotFound


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """Only the response to the form contains a new token."""
    user = cast(User, request.user)
    # A link may choose the rights: /accounts/tokens/?scopes=gateway
    chosen = {"scopes": request.GET.getlist("scopes")} if "scopes" in request.GET else None
    form, token, status = _token_form(request, initial=chosen), "", 200
    if form.is_valid():
        place = place_named(cast(ActorRequest, request).actor, form.cleaned_data.get("team"))
        _row, token = actions.issue_token(user=user, team=place, **form.token_arguments)
        form, status = _token_form(request, is_new=True), 201
    elif form.is_bound:
        status = 422
    usage = token_usage_of(user)
    held = [(row, usage[row.pk]) for row in ApiToken.objects.held_by(user).prefetch_related("team")]
    return render(request, "account/tokens.html", {"form": form, "token": token, "tokens": held}, status=status)


def _token_form(
    request: HttpRequest, *, initial: dict[str, list[str]] | None = None, is_new: bool = False
) -> TokenForm:
    """Return the form, with a choice of places for people who have teams."""
    form = TokenForm(None if is_new else request.POST or None, initial=initial)
    if teams := usable_teams(cast(User, request.user)):
        form.offer(teams)
        place = chosen_place(cast(ActorRequest, request))
        form.initial.setdefault("team", place.slug if place else "")
    return form


@login_required
@require_POST
def revoke_token(request: HttpRequest, public_id: str) -> HttpResponse:
    row = ApiToken.objects.held_by(cast(User, request.user)).filter(public_id=public_id).first()
    if row is None:
        raise NotFound
    row.revoke()
    messages.success(request, _("The token “%(name)s” is revoked.") % {"name": row.name})
    return redirect("account_tokens")


@login_required
@never_cache
@require_safe
def browsers(request: HttpRequest) -> HttpResponse:
    return render(request, "account/browsers.html", {"browsers": active_sign_ins(cast(User, request.user))})


@login_required
@require_POST
def sign_out_browser(request: HttpRequest, public_id: str) -> HttpResponse:
    """Sign out another browser; allauth's page signs out this one."""
    user = cast(User, request.user)
    others = SignIn.objects.exclude(session=request.session.session_key)
    if not actions.sign_out(others.filter(public_id=public_id), member=user, by=user):
        raise NotFound
    messages.success(request, _("That browser is signed out."))
    return redirect("account_browsers")


@login_required
@require_POST
def sign_out_others(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    others = SignIn.objects.exclude(session=request.session.session_key)
    ended = actions.sign_out(others, member=user, by=user)
    sentence = ngettext("%(n)d other browser is signed out.", "%(n)d other browsers are signed out.", ended)
    messages.success(request, sentence % {"n": ended})
    return redirect("account_browsers")


@never_cache
@require_safe
def limits(request: HttpRequest) -> HttpResponse:
    actor = cast(ActorRequest, request).actor
    context = {"limits": limit_rows(actor.limit_keys, kind=actor.kind), "today": today_payload(actor)}
    return render(request, "account/limits.html", context)


@login_required
@require_safe
def my_data(request: HttpRequest) -> HttpResponse:
    return render(request, "account/data.html")


@login_required
@never_cache
@require_safe
def export(request: HttpRequest) -> HttpResponse:
    return personal_data_response(cast(ActorRequest, request).actor)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required  # type: ignore[untyped-decorator]
def delete(request: HttpRequest) -> HttpResponse:
    """Show the confirmation form, and delete; both need a recent reauthentication."""
    user = cast(User, request.user)
    form = DeleteForm(request.POST or None, email=user.email)
    if not form.is_valid():
        context = {"form": form, "teams": teams_left_by(user)}
        return render(request, "account/delete.html", context, status=422 if form.is_bound else 200)
    actions.delete_account(user)
    logout(request)
    messages.success(request, _("Your account is deleted. Your votes stay, without your name."))
    return redirect("battles:new")
