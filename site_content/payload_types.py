from typing import Literal, TypedDict

from common.payload_types import Moment

PageName = Literal["legal", "privacy", "terms"]


class AccentPayload(TypedDict):
    """The accent colour in each theme, as `#rrggbb`."""

    light: str
    dark: str


class SitePagePayload(TypedDict):
    page: PageName
    title: str
    version: int
    url: str


class SitePayload(TypedDict):
    """The operator's name of this site. `required_terms`: lowest version of the terms to accept, null for none."""

    name: str
    logo_url: str | None
    icon_url: str | None
    accent: AccentPayload | None
    languages: list[str]
    pages: list[SitePagePayload]
    required_terms: int | None


class PageTextPayload(TypedDict):
    """One version of a page in one language; markdown and html are "" if the page is not written in it."""

    page: PageName
    title: str
    version: int
    newest_version: int
    published_at: Moment
    must_be_accepted: bool
    language: str
    languages: list[str]
    markdown: str
    html: str


class TermsPayload(TypedDict):
    """The terms of use and you. `version` is the newest, null without terms; `required_terms` the lowest that counts.

    `is_accepted`: you may start battles.
    """

    version: int | None
    required_terms: int | None
    is_accepted: bool
    accepted_version: int | None
    accepted_at: Moment | None
    url: str
