from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from common.errors import ArenaError, InvalidInput
from common.payload_types import ErrorPayload


class TermsNotAccepted(ArenaError):
    """Names the page on which the terms are read and accepted."""

    code = "terms_not_accepted"
    message = _("Please accept the terms of use first. Nothing was sent.")
    http_status = 428

    def as_json(self) -> ErrorPayload:
        return {**super().as_json(), "page": reverse("site_content:page", args=["terms"])}


class TermsChanged(InvalidInput):
    code = "terms_changed"
    message = _("The terms of use have changed meanwhile. Please read and accept the new version.")
    http_status = 409
