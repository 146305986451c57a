"""Files attached to a prompt: check, store and load them."""

from collections.abc import Iterable, Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.models import Attachment, Turn
from battles.prompting.lineup import ModelRequirements
from battles.prompting.messages import AttachmentContent, content_length, turn_content
from common.errors import InvalidInput
from common.text.numbers import format_numbers
from uploads import message_parts
from uploads.actions import mark_used
from uploads.downloads import require_ready
from uploads.models import Upload


def get_attachable_uploads(actor: Actor, ids: Sequence[str]) -> list[Upload]:
    """Return the actor's files in the order of `ids`; no query without ids.

    Raises InvalidInput, NotReadYet, CannotBeRead.
    """
    if not ids:
        return []
    if len(ids) > Attachment.MAX_PER_TURN:
        raise attachment_error(
            _("Attach at most %(most)d files; these are %(n)d.") % {"most": Attachment.MAX_PER_TURN, "n": len(ids)}
        )
    if len(set(ids)) < len(ids):
        raise attachment_error(_("Attach each file once."))
    owned = Upload.objects.owned_by(actor).kept().select_related("extraction").defer("extraction__image")
    known = {upload.public_id: upload for upload in owned.filter(public_id__in=[i for i in ids if i.isprintable()])}
    if len(known) < len(ids):
        raise attachment_error(_("One of the files does not exist or was deleted."))
    for upload in known.values():
        require_ready(upload)
    uploads = [known[public_id] for public_id in ids]
    characters = sum(upload.characters or 0 for upload in uploads)
    if characters > settings.ARENA_ATTACHED_CHARACTERS:
        sentence = _("The files have %(characters)s characters; the limit is %(most)s per prompt.")
        raise attachment_error(
            sentence % format_numbers(characters=characters, most=settings.ARENA_ATTACHED_CHARACTERS)
        )
    return uploads


def attachment_error(sentence: str) -> InvalidInput:
    return InvalidInput(sentence, fields={"attachments": [sentence]})


def get_model_requirements(prompt: str, uploads: Sequence[Upload]) -> ModelRequirements:
    if not uploads:
        return ModelRequirements()
    content = turn_content(unsaved_turn(prompt, uploads), attachment_contents(uploads))
    return ModelRequirements(images=any(upload.is_image for upload in uploads), characters=content_length(content))


def attach(turn: Turn, uploads: Sequence[Upload]) -> None:
    """Store the turn's attachments. Call inside the transaction that creates the turn."""
    turn.attached = [Attachment.facts(upload) for upload in uploads]
    if uploads:
        Attachment.objects.bulk_create(
            [Attachment(turn=turn, upload=upload, position=position) for position, upload in enumerate(uploads)]
        )
        mark_used(Upload.objects.filter(pk__in=[upload.pk for upload in uploads]))


def unsaved_turn(prompt: str, uploads: Sequence[Upload]) -> Turn:
    """Return a turn that serves only to compute messages and their cost."""
    turn = Turn(prompt=prompt)
    turn.attached = [Attachment.facts(upload) for upload in uploads]
    return turn


def load_attachment_contents(turns: Iterable[Turn], *, with_images: bool = False) -> dict[str, AttachmentContent]:
    """Return the contents that models receive, by the upload's public id; no query without attachments.

    with_images: load the image data; otherwise images have a placeholder.
    """
    turns_with_files = [turn for turn in turns if turn.attached]
    if not turns_with_files:
        return {}
    uploads = Upload.objects.filter(attachments__turn__in=turns_with_files).distinct().select_related("extraction")
    return attachment_contents(uploads if with_images else uploads.defer("extraction__image"), with_images=with_images)


def attachment_contents(uploads: Iterable[Upload], *, with_images: bool = False) -> dict[str, AttachmentContent]:
    return {upload.public_id: _attachment_content(upload, with_images=with_images) for upload in uploads}


def _attachment_content(upload: Upload, *, with_images: bool) -> AttachmentContent:
    if not upload.is_image or upload.deleted_at is not None:
        return AttachmentContent(text=message_parts.sent_text(upload))
    return AttachmentContent(image=message_parts.sent_image(upload) if with_images else "data:")
