"""Pages of a member's account that allauth does not have."""

from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts import actions
from accounts.forms import TokenForm
from accounts.models import ApiToken, User
from common.errors import NotFound


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """A new token is on the answer to its form, and nowhere else: reloading the page shows it no more."""
    user = cast(User, request.user)
    form, token, status = TokenForm(request.POST or None), "", 200
    if form.is_valid():
        _row, token = actions.issue_token(user=user, **form.asked)
        form, status = TokenForm(), 201
    elif form.is_bound:
        status = 422
    held = list(ApiToken.objects.held_by(user))
    return render(request, "account/tokens.html", {"form": form, "token": token, "tokens": held}, status=status)


@login_required
@require_POST
def revoke_token(request: HttpRequest, public_id: str) -> HttpResponse:
    row = ApiToken.objects.held_by(cast(User, request.user)).filter(public_id=public_id).first()
    if row is None:
        raise NotFound
    row.revoke()
    messages.success(request, _("The token “%(name)s” is revoked.") % {"name": row.name})
    return redirect("account_tokens")
