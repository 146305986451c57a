"""The operator's site as pages show it: in-process cache, without a query of the page's own."""

from contextlib import suppress
from dataclasses import dataclass

from django.db import Error
from django.utils.translation import gettext as _

from common.cache import TTLCached
from site_content import colours
from site_content.models import PageVersion, SiteIdentity

Page = PageVersion.Page


@dataclass(frozen=True)
class Logo:
    digest: str
    width: int
    height: int
    shows_name: bool


@dataclass(frozen=True)
class Site:
    """chosen_name: "" without one. pages: newest version number of each shown page.

    required_terms: lowest version of the terms that people must have accepted; 0: none.
    """

    chosen_name: str = ""
    logo: Logo | None = None
    accent: tuple[str, str] | None = None
    pages: tuple[tuple[Page, int], ...] = ()
    required_terms: int = 0

    @property
    def name(self) -> str:
        return self.chosen_name or _("Arena")

    @property
    def stylesheet_key(self) -> str:
        return colours.stylesheet_key(*self.accent) if self.accent else ""

    @property
    def terms(self) -> int:
        """Return the newest version of the terms; 0 if there are none."""
        return dict(self.pages).get(Page.TERMS, 0)


class _LastKnown:
    site = Site()


def _read() -> Site:
    """Return the stored site; during an outage of the database the one that was read last."""
    with suppress(Error):
        _LastKnown.site = _read_rows()
    return _LastKnown.site


def _read_rows() -> Site:
    identity = SiteIdentity.objects.defer("logo", "icon").first() or SiteIdentity()
    newest = {row.page: row for row in PageVersion.objects.newest().defer("html")}
    shown = tuple((page, newest[page].number) for page in Page if page in newest and newest[page].languages)
    return Site(
        chosen_name=identity.name,
        logo=_logo(identity),
        accent=_accent(identity),
        pages=shown,
        required_terms=_required_terms() if Page.TERMS in dict(shown) else 0,
    )


def _logo(identity: SiteIdentity) -> Logo | None:
    if not identity.logo_digest:
        return None
    return Logo(identity.logo_digest, identity.logo_width, identity.logo_height, identity.shows_name)


def _accent(identity: SiteIdentity) -> tuple[str, str] | None:
    if not identity.accent:
        return None
    return identity.accent, identity.accent_dark or colours.dark_colour(identity.accent)


def _required_terms() -> int:
    versions = PageVersion.objects.filter(page=Page.TERMS, must_be_accepted=True)
    return versions.order_by("-number").values_list("number", flat=True).first() or 0


site = TTLCached(_read, ttl_s=5, invalidated_by=(SiteIdentity, PageVersion))


def last_known_site() -> Site:
    """Return the site as it was read last, without a query."""
    return _LastKnown.site
