"""The operator's identity and pages, and who accepted which terms."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from accounts.models import User, Visitor
from common.text.translated import Texts, best_language


class SiteIdentity(models.Model):
    """The site's name, logo and colour: one row at most."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    name = models.CharField(_("site name"), max_length=60, blank=True)
    # PNGs from uploads.reading.pictures.prepare_logo.
    logo = models.BinaryField(null=True)
    icon = models.BinaryField(null=True)
    logo_width = models.PositiveSmallIntegerField(default=0, editable=False)
    logo_height = models.PositiveSmallIntegerField(default=0, editable=False)
    logo_digest = models.CharField(max_length=16, blank=True, editable=False)
    shows_name = models.BooleanField(_("show the name beside the logo"), default=True)
    # "#1c6b50", or empty for the arena's own. `accent_dark` is empty if computed.
    accent = models.CharField(_("accent colour"), max_length=7, blank=True)
    accent_dark = models.CharField(_("accent colour in the dark theme"), max_length=7, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("name, logo and colour")
        verbose_name_plural = _("name, logo and colour")
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="a_site_has_one_identity"),
            models.CheckConstraint(
                condition=Q(accent__regex=r"^(#[0-9a-f]{6})?$", accent_dark__regex=r"^(#[0-9a-f]{6})?$"),
                name="an_accent_is_a_colour",
            ),
            models.CheckConstraint(
                condition=Q(logo=None, icon=None, logo_digest="")
                | (Q(logo__isnull=False, icon__isnull=False) & ~Q(logo_digest="")),
                name="a_logo_has_an_icon_and_a_digest",
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(_("Arena"))


class PageQuerySet(models.QuerySet["PageVersion"]):
    def newest(self) -> "PageQuerySet":
        """Return the newest version of each page."""
        return self.order_by("page", "-number").distinct("page")


class PageVersion(models.Model):
    """Version of a footer page, published when it is stored and never changed. Without texts the page is withdrawn."""

    class Page(models.TextChoices):
        LEGAL = "legal", _("Legal notice")
        PRIVACY = "privacy", _("Privacy")
        TERMS = "terms", _("Terms of use")

    page = models.CharField(_("page"), max_length=7, choices=Page)
    number = models.PositiveIntegerField(_("version"), editable=False)
    # Markdown and its safe HTML by language.
    texts = models.JSONField(_("texts"), default=dict, blank=True)
    html = models.JSONField(default=dict, editable=False)
    must_be_accepted = models.BooleanField(_("must be accepted before the next battle"), default=False)
    published_at = models.DateTimeField(_("published at"), db_default=Now(), editable=False)
    published_by = models.ForeignKey(
        User, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("published by")
    )

    objects = PageQuerySet.as_manager()

    class Meta:
        verbose_name = _("footer page")
        verbose_name_plural = _("footer pages")
        ordering = ["page", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["page", "number"], name="a_page_has_one_version_of_a_number"),
            models.CheckConstraint(
                condition=Q(must_be_accepted=False) | Q(page="terms"),
                name="only_terms_are_accepted",
                violation_error_message=_("Only terms of use can be accepted."),
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="a_published_page_never_changes",
                fields=["page", "number", "texts", "html", "must_be_accepted", "published_at"],
            ),
            pgtrigger.Protect(name="a_published_page_is_never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.page} {self.number}"

    @property
    def languages(self) -> Texts:
        return {code: text for code, text in self.texts.items() if text}

    @property
    def best_language(self) -> str:
        return best_language(self.texts)


class TermsAcceptance(models.Model):
    """Consent of one person to a version of the terms."""

    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="+")
    visitor = models.ForeignKey(Visitor, models.CASCADE, null=True, related_name="+")
    version = models.ForeignKey(PageVersion, models.PROTECT, related_name="acceptances")
    accepted_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "version"], name="a_member_accepts_terms_once"),
            models.UniqueConstraint(fields=["visitor", "version"], name="a_visitor_accepts_terms_once"),
            models.CheckConstraint(
                condition=Q(user=None, visitor__isnull=False) | Q(user__isnull=False, visitor=None),
                name="terms_are_accepted_by_one_person",
            ),
        ]

    def __str__(self) -> str:
        return f"acceptance {self.pk}"
