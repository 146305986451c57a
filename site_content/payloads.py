from typing import cast

from django.conf import settings
from django.urls import reverse

from accounts.actor import Actor
from common.text.translated import best_language
from site_content.current import Site
from site_content.models import PageVersion
from site_content.payload_types import PageName, PageTextPayload, SitePayload, TermsPayload
from site_content.terms import acceptances_of, has_accepted


def site_payload(site: Site) -> SitePayload:
    return {
        "name": site.name,
        "logo_url": reverse("site_content:logo", args=[site.logo.digest]) if site.logo else None,
        "icon_url": reverse("site_content:icon", args=[site.logo.digest]) if site.logo else None,
        "accent": {"light": site.accent[0], "dark": site.accent[1]} if site.accent else None,
        "languages": [code for code, _name in settings.LANGUAGES],
        "pages": [
            {
                "page": cast(PageName, page.value),
                "title": str(page.label),
                "version": number,
                "url": reverse("site_content:page", args=[page]),
            }
            for page, number in site.pages
        ],
        "required_terms": site.required_terms or None,
    }


def page_payload(version: PageVersion, *, newest: int, language: str = "") -> PageTextPayload:
    """language: "" for the request's, or the best that the page has."""
    language = language or best_language(version.texts)
    return {
        "page": cast(PageName, version.page),
        "title": str(PageVersion.Page(version.page).label),
        "version": version.number,
        "newest_version": newest,
        "published_at": version.published_at,
        "must_be_accepted": version.must_be_accepted,
        "language": language,
        "languages": list(version.languages),
        "markdown": version.texts.get(language, ""),
        "html": version.html.get(language, ""),
    }


def terms_payload(site: Site, actor: Actor) -> TermsPayload:
    last = acceptances_of(actor).select_related("version").order_by("-version__number").first()
    return {
        "version": site.terms or None,
        "required_terms": site.required_terms or None,
        "is_accepted": has_accepted(actor),
        "accepted_version": last.version.number if last else None,
        "accepted_at": last.accepted_at if last else None,
        "url": reverse("site_content:page", args=[PageVersion.Page.TERMS]),
    }
