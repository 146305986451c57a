"""Files that go with a prompt: which ones may, what they ask of models, and what models are sent of them."""

from collections.abc import Iterable, Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.actor import Actor
from battles.models import Attachment, Turn
from battles.prompting.lineup import Needs
from battles.prompting.messages import Material, content_of, length_of
from common.errors import InvalidInput
from common.text.numbers import format_numbers
from uploads import message_parts
from uploads.actions import mark_used
from uploads.downloads import require_ready
from uploads.models import Upload


def chosen_uploads(actor: Actor, ids: Sequence[str]) -> list[Upload]:
    """The person's files in the order of `ids`, all of them ready; no query without any.

    Raises InvalidInput, NotReadYet, CannotBeRead.
    """
    if not ids:
        return []
    if len(ids) > Attachment.MAX_PER_TURN:
        raise refused(
            _("Attach at most %(most)d files; these are %(n)d.") % {"most": Attachment.MAX_PER_TURN, "n": len(ids)}
        )
    if len(set(ids)) < len(ids):
        raise refused(_("Attach each file once."))
    mine = Upload.objects.owned_by(actor).kept().select_related("extraction").defer("extraction__image")
    known = {upload.public_id: upload for upload in mine.filter(public_id__in=[i for i in ids if i.isprintable()])}
    if len(known) < len(ids):
        raise refused(_("One of the files does not exist or was deleted."))
    for upload in known.values():
        require_ready(upload)
    uploads = [known[public_id] for public_id in ids]
    characters = sum(upload.characters or 0 for upload in uploads)
    if characters > settings.ARENA_ATTACHED_CHARACTERS:
        sentence = _("The files have %(characters)s characters; the limit is %(most)s per prompt.")
        raise refused(sentence % format_numbers(characters=characters, most=settings.ARENA_ATTACHED_CHARACTERS))
    return uploads


def refused(sentence: str) -> InvalidInput:
    return InvalidInput(sentence, fields={"attachments": [sentence]})


def needs_of(prompt: str, uploads: Sequence[Upload]) -> Needs:
    """What a model must be able to do to answer."""
    if not uploads:
        return Needs()
    content = content_of(unsaved_turn(prompt, uploads), material_of_uploads(uploads))
    return Needs(images=any(upload.is_image for upload in uploads), characters=length_of(content))


def attach(turn: Turn, uploads: Sequence[Upload]) -> None:
    """Inside the transaction that makes the turn."""
    turn.attached = [Attachment.facts(upload) for upload in uploads]
    if uploads:
        Attachment.objects.bulk_create(
            [Attachment(turn=turn, upload=upload, position=position) for position, upload in enumerate(uploads)]
        )
        mark_used(Upload.objects.filter(pk__in=[upload.pk for upload in uploads]))


def unsaved_turn(prompt: str, uploads: Sequence[Upload]) -> Turn:
    """To see what asking would come to."""
    turn = Turn(prompt=prompt)
    turn.attached = [Attachment.facts(upload) for upload in uploads]
    return turn


def material_of(turns: Iterable[Turn], *, with_images: bool = False) -> dict[str, Material]:
    """By upload: what models are sent of the turns' files; no query where there are none.

    with_images: the pictures themselves, and not only that there are some.
    """
    with_files = [turn for turn in turns if turn.attached]
    if not with_files:
        return {}
    uploads = Upload.objects.filter(attachments__turn__in=with_files).distinct().select_related("extraction")
    return material_of_uploads(uploads if with_images else uploads.defer("extraction__image"), with_images=with_images)


def material_of_uploads(uploads: Iterable[Upload], *, with_images: bool = False) -> dict[str, Material]:
    return {upload.public_id: _material(upload, with_images=with_images) for upload in uploads}


def _material(upload: Upload, *, with_images: bool) -> Material:
    if not upload.is_image or upload.deleted_at is not None:
        return Material(text=message_parts.sent_text(upload))
    return Material(image=message_parts.sent_image(upload) if with_images else "data:")
