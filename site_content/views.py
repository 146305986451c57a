"""The operator's pages, and the files that give pages the operator's look."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.actor import ActorRequest, ensure_known_actor
from common.text.markdown import declare_safe
from site_content import colours
from site_content.actions import accept_terms
from site_content.current import Page, site
from site_content.models import PageVersion, SiteIdentity
from site_content.queries import get_page
from site_content.terms import acceptances_of

# Addresses contain a digest of the content, and need no other version.
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}


@require_safe
def accent(request: HttpRequest, key: str) -> HttpResponse:
    """Return the stylesheet of the key's colours, without a query."""
    chosen = colours.parse_stylesheet_key(key)
    if chosen is None:
        raise Http404
    # Another release may have made the URL during an update: caches must ask again.
    headers = FOREVER if colours.stylesheet_key(*chosen) == key else {"Cache-Control": "public, no-cache"}
    return HttpResponse(colours.stylesheet(*chosen), content_type="text/css; charset=utf-8", headers=headers)


@require_safe
def logo(request: HttpRequest, digest: str) -> HttpResponse:
    return _picture("logo", digest)


@require_safe
def icon(request: HttpRequest, digest: str) -> HttpResponse:
    return _picture("icon", digest)


def _picture(column: str, digest: str) -> HttpResponse:
    picture = SiteIdentity.objects.filter(logo_digest=digest).exclude(logo=None).values_list(column, flat=True).first()
    if picture is None:
        raise Http404
    return HttpResponse(bytes(picture), content_type="image/png", headers=FOREVER)


@require_safe
def page(request: ActorRequest, page: str) -> HttpResponse:
    version, newest = get_page(page, request.GET.get("version", ""))
    is_newest = version.number == newest
    must_accept = is_newest and page == Page.TERMS and bool(site().required_terms)
    context = {
        "version": version,
        "is_newest": is_newest,
        "title": PageVersion.Page(version.page).label,
        "language": version.best_language,
        "text": _html(version),
        "versions": PageVersion.objects.filter(page=page).exclude(texts={}).order_by("-number"),
        "must_accept": must_accept,
        "acceptance": acceptances_of(request.actor).filter(version=version).first() if must_accept else None,
    }
    return render(request, "site_content/page.html", context)


def _html(version: PageVersion) -> SafeString:
    return declare_safe(version.html.get(version.best_language, ""))


@require_POST
def accept(request: ActorRequest) -> HttpResponse:
    number = request.POST.get("version", "")
    accept_terms(actor=ensure_known_actor(request), number=int(number) if number.isdecimal() else 0)
    messages.success(request, _("You accepted the terms of use."))
    return redirect("site_content:page", Page.TERMS)
