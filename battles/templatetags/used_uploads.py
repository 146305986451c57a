"""`{% uses_of uploads as uses %}` and `{{ uses|of_upload:upload }}`: sessions that use files."""

from collections import defaultdict
from collections.abc import Iterable

from django import template

from battles.models import Attachment, Session
from uploads.models import Upload

register = template.Library()

Uses = dict[int, list[Session]]


@register.simple_tag
def uses_of(uploads: Upload | Iterable[Upload]) -> Uses:
    """Return sessions by upload id, latest first, with one query."""
    rows = [uploads] if isinstance(uploads, Upload) else list(uploads)
    uses: Uses = defaultdict(list)
    attachments = Attachment.objects.filter(upload__in=rows, turn__battle__session__discarded_at=None)
    for attachment in attachments.select_related("turn__battle__session").order_by("-pk"):
        session = attachment.turn.battle.session
        if session not in uses[attachment.upload_id]:
            uses[attachment.upload_id].append(session)
    return dict(uses)


@register.filter
def of_upload(uses: Uses, upload: Upload) -> list[Session]:
    return uses.get(upload.pk, [])
