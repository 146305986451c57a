"""Sentences on what models do not receive of a file, and on what reading it assumed."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from uploads.reading.findings import Note, NoteKind


def note_message(note: Note) -> str:
    count = intcomma(note.count)
    match note.kind:
        case NoteKind.FRAMES_LEFT_OUT:
            return ngettext(
                "Models receive the first picture only; %(count)s more is left out.",
                "Models receive the first picture only; %(count)s more are left out.",
                note.count,
            ) % {"count": note.count}
        case NoteKind.CHARACTERS_LEFT_OUT:
            return _("The text is too long: models receive it up to page %(page)s of %(pages)s only.") % {
                "page": note.count,
                "pages": note.detail,
            }
        case NoteKind.PAGES_LEFT_OUT:
            return ngettext(
                "Models receive the first %(read)s pages only; %(count)s more is left out.",
                "Models receive the first %(read)s pages only; %(count)s more are left out.",
                note.count,
            ) % {"count": count, "read": note.detail}
        case NoteKind.READING_STOPPED:
            return ngettext(
                "Reading took too long and ended with page %(read)s; %(count)s more is left out.",
                "Reading took too long and ended with page %(read)s; %(count)s more are left out.",
                note.count,
            ) % {"count": count, "read": note.detail}
        case NoteKind.PAGES_WITHOUT_TEXT:
            return ngettext(
                "%(count)s page has no text: it seems to be a picture or scanned. Models do not see it.",
                "%(count)s pages have no text: they seem to be pictures or scanned. Models do not see them.",
                note.count,
            ) % {"count": count}
        case NoteKind.PAGES_DAMAGED:
            return ngettext(
                "%(count)s page is damaged and left out.", "%(count)s pages are damaged and left out.", note.count
            ) % {"count": count}
        case NoteKind.SIGNS_UNREADABLE:
            return ngettext(
                "%(count)s character could not be read; models receive � for it.",
                "%(count)s characters could not be read; models receive � for each.",
                note.count,
            ) % {"count": count}
        case NoteKind.SIGNS_ASSUMED:
            return ngettext(
                "The file does not say which letter %(count)s of its characters is; check the text.",
                "The file does not say which letters %(count)s of its characters are; check the text.",
                note.count,
            ) % {"count": count}
        case NoteKind.ATTACHMENTS_LEFT_OUT:
            return ngettext(
                "The file inside it is left out: %(names)s",
                "The %(count)s files inside it are left out: %(names)s",
                note.count,
            ) % {"count": count, "names": note.detail}
        case NoteKind.END_MISSING:
            return _("The end of the file is missing, and with it perhaps some pages.")
        case NoteKind.FORM_UNREADABLE:
            return _("Not all form fields and comments could be read.")
        case NoteKind.FORM_LABELS_LEFT_OUT:
            return _("Models receive the data of this interactive form (XFA), not its labels.")
