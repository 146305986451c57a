"""The page “Single sign-on”: how its issuers are set up, and whether they answer."""

from dataclasses import dataclass, field
from typing import cast

from allauth.socialaccount.models import SocialAccount
from allauth.utils import build_absolute_uri
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.admin.issuer_reports import Announcement, announcements, report
from accounts.models import User
from accounts.single_sign_on import discovery, own_sign_in
from accounts.single_sign_on.errors import IssuerAnswerInvalid, IssuerUnreachable
from accounts.single_sign_on.issuers import Issuer, all_issuers
from accounts.single_sign_on.tokens import ALGORITHMS
from common.payload_types import JsonObject

# Key in the addresses that are shown before there is an issuer.
EXAMPLE_KEY = "company"


@dataclass(frozen=True)
class CheckResult:
    """log: words of the log, in English. document: what the issuer announces."""

    sentence: str
    is_well: bool
    log: str = ""
    document: list[Announcement] = field(default_factory=list)


class IssuersAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.show_issuers)
        return [path("issuers/", view, name="accounts_single_sign_on"), *super().get_urls()]

    def show_issuers(self, request: HttpRequest) -> HttpResponse:
        """Show settings without secrets, and the reader's own last sign-in. A POST sends requests to the issuers."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        rows = SocialAccount.objects.values("provider").annotate(accounts=Count("pk"), last_login=Max("last_login"))
        use = {row["provider"]: row for row in rows.order_by()}
        own = own_sign_in.of(cast(User, request.user))
        issuers = [
            {
                "issuer": issuer, "addresses": _addresses(request, issuer.key), "use": use.get(issuer.url),
                "result": _check(issuer) if request.method == "POST" else None,
                "own": report(issuer, own) if own is not None and own["issuer"] == issuer.url else None,
            }
            for issuer in all_issuers()
        ]  # fmt: skip
        context = {
            **self.admin_site.each_context(request), "opts": self.opts, "title": _("Single sign-on"),
            "issuers": issuers, "example": _addresses(request, EXAMPLE_KEY),
        }  # fmt: skip
        return TemplateResponse(request, "admin/accounts/single_sign_on.html", context)


def _addresses(request: HttpRequest, key: str) -> JsonObject:
    """Return the arena's addresses that are registered at an issuer."""
    return {
        name: build_absolute_uri(request, reverse(f"openid_connect_{name}", args=[key]))
        for name in ("callback", "sign_out")
    }


def _check(issuer: Issuer) -> CheckResult:
    try:
        keys = discovery.check(issuer)
    except IssuerUnreachable as error:
        sentence = _("It cannot be reached from this machine.")
        if not issuer.internal_url:
            hint = _("If browsers reach it, name its address inside your network in %(setting)s.")
            sentence = f"{sentence} {hint % {'setting': f'ARENA_SSO_{issuer.key.upper()}_INTERNAL_URL'}}"
        return CheckResult(sentence, is_well=False, log=error.problem)
    except IssuerAnswerInvalid as error:
        if error.named:
            return CheckResult(_of_another_name(issuer, error.named), is_well=False)
        return CheckResult(_("Its answer is not OpenID Connect."), is_well=False, log=error.problem)
    document = discovery.endpoints(issuer).document
    announced = announcements(issuer, document)
    if not keys:
        return CheckResult(_("It lists no keys, so no sign-in could be verified."), is_well=False, document=announced)
    algorithms = document.get("id_token_signing_alg_values_supported")
    if isinstance(algorithms, list) and algorithms and not {*ALGORITHMS} & {*map(str, algorithms)}:
        sentence = _(
            "It signs with %(algorithms)s only, whose key is the client’s secret or none. Choose a signing key there, "
            "for RS256 or ES256."
        ) % {"algorithms": ", ".join(map(str, algorithms))[:200]}
        return CheckResult(sentence, is_well=False, document=announced)
    sentence = ngettext(
        "It answers as it should, and lists %(n)d key.", "It answers as it should, and lists %(n)d keys.", keys
    )
    return CheckResult(sentence % {"n": keys}, is_well=True, document=announced)


def _of_another_name(issuer: Issuer, named: str) -> str:
    words = {"named": named, "setting": f"ARENA_SSO_{issuer.key.upper()}_URL", "url": issuer.url}
    if "{" in named:  # Entra's tenantid
        return (
            _("Its document is for all tenants (“%(named)s”). Write your tenant’s own address into %(setting)s.")
            % words
        )
    if issuer.internal_url:
        return (
            _(
                "At the internal address, its document names the issuer “%(named)s” instead of %(url)s. Set its public "
                "address there, or let it believe the headers of proxies."
            )
            % words
        )
    return _("Its document names the issuer “%(named)s”. Write exactly this into %(setting)s.") % words
