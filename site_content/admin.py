from collections.abc import Mapping

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.admin.audited import AuditedAdmin
from accounts.models import User
from common.admin.single_row import SingleRowMixin
from common.admin.translated_text import TranslatedField
from common.text.storable import has_unstorable
from site_content import colours
from site_content.actions import MAX_PAGE_CHARACTERS, publish_page, set_logo
from site_content.models import PageVersion, SiteIdentity
from uploads.reading.findings import Logo, Reason, Unreadable
from uploads.reading.guard import read_logo
from uploads.reading.sniffing import detect_type

MAX_LOGO_BYTES = 1_000_000
TOO_LARGE = _("The logo is larger than 1 MB.")
_TOO_LIGHT = _(
    "The contrast of %(colour)s in the light theme is only %(ratio)s : 1; it must be 4.5 : 1. Choose a darker colour."
)
_TOO_DARK = _(
    "The contrast of %(colour)s in the dark theme is only %(ratio)s : 1; it must be 4.5 : 1. Choose a lighter colour."
)
_UNREADABLE = {
    Reason.TOO_MANY_PIXELS: _("This picture has too many pixels. Save it smaller and choose it again."),
    Reason.TOO_DEMANDING: _("Reading this picture takes too long. Save it smaller and choose it again."),
}


class ColourInput(forms.TextInput):
    """Text input with the browser's colour picker beside it, which static/js/colour_picker.js shows."""

    class Media:
        js = [forms.Script("js/colour_picker.js", defer=True)]

    def __init__(self, arenas_own: str) -> None:
        super().__init__(attrs={"size": 9})
        self.arenas_own = arenas_own

    def render(
        self, name: str, value: object, attrs: Mapping[str, object] | None = None, renderer: object = None
    ) -> SafeString:
        field = super().render(name, value, dict(attrs or {}), renderer)  # type: ignore[arg-type]
        words = (field, self.arenas_own, gettext("Pick a colour"), (attrs or {}).get("id", ""))
        return format_html('{} <input type="color" value="{}" aria-label="{}" data-colour-of="{}" hidden>', *words)


class SiteIdentityForm(forms.ModelForm):  # type: ignore[type-arg]
    logo_file = forms.FileField(
        label=capfirst(_("new logo")),
        required=False,
        widget=forms.FileInput(
            attrs={
                "data-limit": MAX_LOGO_BYTES,
                "data-too-large": TOO_LARGE,
                "accept": "image/png,image/jpeg,image/webp,image/gif",
            }
        ),
        help_text=_("PNG, JPEG, WebP or GIF, at most 1 MB. It is scaled down and stored without metadata."),
    )
    remove_logo = forms.BooleanField(label=capfirst(_("remove the logo")), required=False)

    class Meta:
        model = SiteIdentity
        fields = ["name", "shows_name", "accent", "accent_dark"]
        widgets = {"accent": ColourInput("#1c6b50"), "accent_dark": ColourInput("#7cc7a5")}
        help_texts = {
            "name": _("In the header, in titles and e-mails. Empty: “Arena”."),
            "accent": _(
                "For links and buttons, such as “#1c6b50”. Its contrast with the backgrounds of the light theme must "
                "be 4.5 : 1. Empty: the arena’s green."
            ),
            "accent_dark": _("With the backgrounds of the dark theme, also 4.5 : 1. Empty: computed from the other."),
        }

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if has_unstorable(name) or not name.isprintable():
            raise ValidationError(_("The name contains an invalid character."), "invalid_character")
        return name

    def clean_accent(self) -> str:
        return _checked_colour(self.cleaned_data["accent"], colours.LIGHT)

    def clean_accent_dark(self) -> str:
        return _checked_colour(self.cleaned_data["accent_dark"], colours.DARK)

    def clean_logo_file(self) -> Logo | None:
        file: UploadedFile[bytes] | None = self.cleaned_data["logo_file"]
        if file is None:
            return None
        if (file.size or 0) > MAX_LOGO_BYTES:
            raise ValidationError(TOO_LARGE, "too_large")
        return _read_logo(file.read())

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        if data.get("accent_dark") and not data.get("accent") and "accent" not in self.errors:
            self.add_error("accent", ValidationError(_("Choose a colour for the light theme, too."), "required"))
        if data.get("logo_file") and data.get("remove_logo"):
            self.add_error("remove_logo", ValidationError(_("Either a new logo, or none."), "contradiction"))
        return data


def _checked_colour(text: str, surfaces: colours.Surfaces) -> str:
    """Return the colour in small letters. Raises ValidationError with the contrast."""
    colour = text.strip().lower()
    if not colour:
        return ""
    if not colours.is_colour(colour):
        raise ValidationError(
            _("“%(colour)s” is no colour. Write “#” and six digits or letters from a to f, such as “#1c6b50”."),
            "not_a_colour", {"colour": text},
        )  # fmt: skip
    ratio = surfaces.contrast_of(colour)
    if ratio < colours.MIN_CONTRAST:
        sentence = _TOO_LIGHT if surfaces is colours.LIGHT else _TOO_DARK
        shown = number_format(int(ratio * 100) / 100, 2)  # rounded down: 4.499 must not read as 4.5
        raise ValidationError(sentence, "too_little_contrast", {"colour": colour, "ratio": shown})
    return colour


def _read_logo(content: bytes) -> Logo:
    """Return the re-encoded logo. Raises ValidationError."""
    file_type = detect_type(content, "")
    if file_type is None or file_type.kind != "image":
        raise ValidationError(_("The logo must be a PNG, JPEG, WebP or GIF."), "unsupported_media_type")
    try:
        return read_logo(content)
    except Unreadable as error:
        sentence = _UNREADABLE.get(error.reason, _("This picture is damaged."))
        raise ValidationError(sentence, str(error.reason)) from error


@admin.register(SiteIdentity)
class SiteIdentityAdmin(SingleRowMixin, AuditedAdmin):
    form = SiteIdentityForm
    readonly_fields = ["current_logo"]
    fields = ["name", "current_logo", "logo_file", "remove_logo", "shows_name", "accent", "accent_dark"]

    class Media:
        js = ["js/input_limits.js"]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Lead to the only row, or to the form for it."""
        if self.has_view_or_change_permission(request) and SiteIdentity.objects.exists():
            return redirect("admin:site_content_siteidentity_change", 1)
        if self.has_add_permission(request):
            return redirect("admin:site_content_siteidentity_add")
        return super().changelist_view(request, extra_context)

    def save_model(self, request: HttpRequest, obj: SiteIdentity, form: SiteIdentityForm, change: bool) -> None:
        data = form.cleaned_data
        if data["logo_file"] or data["remove_logo"]:
            set_logo(obj, data["logo_file"])
        super().save_model(request, obj, form, change)

    def subject_of(self, row: Model) -> str:
        return "site identity"

    def state_of(self, row: SiteIdentity) -> dict[str, object]:
        return {
            "name": row.name, "logo": row.logo_digest, "shows_name": row.shows_name,
            "accent": row.accent, "accent_dark": row.accent_dark,
        }  # fmt: skip

    @admin.display(description=_("logo"))
    def current_logo(self, row: SiteIdentity) -> str | SafeString:
        if not row.logo_digest:
            return gettext("none")
        address = reverse("site_content:logo", args=[row.logo_digest])
        words = (address, row.logo_width, row.logo_height, gettext("logo"))
        return format_html('<img src="{}" width="{}" height="{}" alt="{}">', *words)


class PageVersionForm(forms.ModelForm):  # type: ignore[type-arg]
    texts = TranslatedField(
        label=capfirst(_("texts")),
        max_characters=MAX_PAGE_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 20, "cols": 100, "dir": "auto"}),
        required=False,
        help_text=_(
            "Markdown, at most 100,000 characters in each language. Links are web or mail addresses. Without any text "
            "the page is withdrawn from the footer."
        ),
    )

    class Meta:
        model = PageVersion
        fields = ["page", "texts", "must_be_accepted"]
        help_texts = {
            "must_be_accepted": _(
                "Terms of use only. Leave it unchecked for a small correction: people who accepted the version before "
                "need not accept this one."
            )
        }

    def clean_texts(self) -> object:
        return self.cleaned_data["texts"] or {}


@admin.register(PageVersion)
class PageVersionAdmin(AuditedAdmin):
    """A version is published when it is added; it cannot be changed."""

    form = PageVersionForm
    list_display = ["page", "number", "published_at", "written_in", "must_be_accepted", "acceptance_count"]

    class Media:
        js = ["js/input_limits.js"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:  # type: ignore[override]
        shown = ["page", "number", "published_at", "published_by", "must_be_accepted", "written"]
        return ["page", "texts", "must_be_accepted"] if obj is None else shown

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, object]:  # type: ignore[override]
        """Begin with the texts of the page's newest version."""
        page = request.GET.get("page", "")
        newest = PageVersion.objects.filter(page=page).order_by("-number").first()
        return {"page": page, "texts": newest.texts if newest else {}}

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        own = {"title": gettext("Footer pages"), "publishable_pages": list(PageVersion.Page)}
        return super().changelist_view(request, {**own, **(extra_context or {})})

    def save_model(self, request: HttpRequest, obj: PageVersion, form: PageVersionForm, change: bool) -> None:
        stored = publish_page(
            page=PageVersion.Page(obj.page), texts=obj.texts, must_be_accepted=obj.must_be_accepted,
            by=request.user if isinstance(request.user, User) else None,
        )  # fmt: skip
        obj.pk, obj.number = stored.pk, stored.number

    def state_of(self, row: PageVersion) -> dict[str, object]:
        lengths = {code: len(text) for code, text in row.texts.items()}
        return {"characters": lengths, "must_be_accepted": row.must_be_accepted}

    @admin.display(description=_("languages"))
    def written_in(self, row: PageVersion) -> str:
        return ", ".join(row.languages) or gettext("withdrawn")

    @admin.display(description=_("accepted by"))
    def acceptance_count(self, row: PageVersion) -> int:
        return row.acceptances.count()

    @admin.display(description=_("texts"))
    def written(self, row: PageVersion) -> SafeString:
        parts = ((code, text) for code, text in row.languages.items())
        texts = format_html_join("", '<strong>{0}</strong><pre lang="{0}" dir="auto">{1}</pre>', parts)
        return format_html('<div class="written">{}</div>', texts)
