import hashlib

from django.db import connection, transaction
from django.db.models import Max

from accounts.actor import Actor
from accounts.models import User
from common.text.markdown import render
from common.text.translated import Texts
from site_content.current import site
from site_content.errors import TermsChanged
from site_content.models import PageVersion, SiteIdentity, TermsAcceptance
from uploads.reading.findings import Logo

MAX_PAGE_CHARACTERS = 100_000
_LOCK_ID = 7_203_417


def set_logo(identity: SiteIdentity, logo: Logo | None) -> None:
    """Set the columns of the logo, without saving. None removes it."""
    identity.logo, identity.icon = (logo.content, logo.icon) if logo else (None, None)
    identity.logo_width, identity.logo_height = (logo.width, logo.height) if logo else (0, 0)
    identity.logo_digest = hashlib.sha256(logo.content + logo.icon).hexdigest()[:16] if logo else ""


@transaction.atomic
def publish_page(*, page: PageVersion.Page, texts: Texts, must_be_accepted: bool, by: User | None) -> PageVersion:
    """Store the page's next version, which is shown from then on; without texts the page is withdrawn.

    Takes seconds for a hostile text of MAX_PAGE_CHARACTERS.
    """
    html = {code: str(render(text, first_heading=2)) for code, text in texts.items()}
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])  # one publication at a time
    last = PageVersion.objects.filter(page=page).aggregate(last=Max("number"))["last"] or 0
    return PageVersion.objects.create(
        page=page, number=last + 1, texts=texts, html=html, must_be_accepted=must_be_accepted, published_by=by
    )


def accept_terms(*, actor: Actor, number: int) -> TermsAcceptance:
    """Store that the actor, a member or a visitor, accepts this version, which is the newest.

    Raises TermsChanged for another version, also where there are no terms.
    """
    if not number or number != site().terms:
        raise TermsChanged
    version = PageVersion.objects.get(page=PageVersion.Page.TERMS, number=number)
    acceptance, _is_new = TermsAcceptance.objects.get_or_create(
        user=actor.user, visitor=None if actor.user else actor.visitor, version=version
    )
    return acceptance
