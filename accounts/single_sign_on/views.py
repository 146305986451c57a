from typing import cast

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import flows
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from accounts.actor import network_limit_keys
from accounts.models import User
from accounts.single_sign_on import sign_out
from accounts.single_sign_on.errors import LastWayIn, SignOnRefused
from accounts.single_sign_on.issuers import Issuer, all_issuers, issuer_by
from accounts.single_sign_on.provider import Adapter, Callback, Provider
from common.errors import NotFound
from common.valkey import limits


@never_cache
@require_POST
def start(request: HttpRequest, key: str) -> HttpResponse:
    issuer = _issuer(key)
    limits.count("signon", network_limit_keys(request), fail_open=True)
    return _leave(request, issuer, process="login")


@never_cache
@login_required
@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def connect(request: HttpRequest, key: str) -> HttpResponse:
    return _leave(request, _issuer(key), process="connect")


def _leave(request: HttpRequest, issuer: Issuer, *, process: str) -> HttpResponse:
    """Show a page that leads on to the issuer.

    The policy's form-action would forbid a redirect.
    """
    provider = cast(Provider, get_adapter(request).get_provider(request, issuer.url))
    url = provider.leave_for_issuer(request, process=process, next_url=get_next_redirect_url(request))
    return render(request, "account/leaving.html", {"issuer": issuer, "url": url})


@never_cache
@require_safe
def callback(request: HttpRequest, key: str) -> HttpResponse:
    """Receive the browser from the issuer. Raises SignOnRefused."""
    return cast(HttpResponse, Callback.adapter_view(Adapter(request, _issuer(key).url))(request))


@csrf_exempt
@never_cache
@require_POST
def back_channel_sign_out(request: HttpRequest, key: str) -> HttpResponse:
    """Receive a logout token from the issuer's server."""
    try:
        sign_out.sign_out(_issuer(key), request.POST.get("logout_token"))
    except SignOnRefused as error:
        status = error.http_status if error.http_status >= 500 else 400
        refusal = {"error": "invalid_request", "error_description": error.code}
        return JsonResponse(refusal, status=status, headers=error.headers)
    return HttpResponse()


@never_cache
@login_required
@require_safe
def connections(request: HttpRequest) -> HttpResponse:
    connected = {row.provider: row for row in SocialAccount.objects.filter(user=cast(User, request.user))}
    rows = [(issuer, connected.get(issuer.url)) for issuer in all_issuers()]
    return render(request, "account/connections.html", {"rows": rows})


@login_required
@require_POST
@reauthentication_required  # type: ignore[untyped-decorator]
def disconnect(request: HttpRequest, key: str) -> HttpResponse:
    """Raises LastWayIn."""
    issuer = _issuer(key)
    account = SocialAccount.objects.filter(user=cast(User, request.user), provider=issuer.url).first()
    if account is None:
        raise NotFound
    try:
        flows.connect.validate_disconnect(request, account)
    except ValidationError as error:
        raise LastWayIn(issuer) from error
    flows.connect.disconnect(request, account)
    return redirect("socialaccount_connections")


def _issuer(key: str) -> Issuer:
    issuer = issuer_by(key=key)
    if issuer is None:
        raise NotFound
    return issuer
