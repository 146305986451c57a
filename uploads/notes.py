"""Sentences on what models do not receive of a file, and on what reading it assumed."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from uploads.reading.findings import Note, NoteKind


def note_message(note: Note) -> str:
    match note.kind:
        case NoteKind.FRAMES_LEFT_OUT:
            return ngettext(
                "Models receive the first picture only; %(count)s more is left out.",
                "Models receive the first picture only; %(count)s more are left out.",
                note.count,
            ) % {"count": note.count}
        case NoteKind.ENCODING_ASSUMED:
            return _("The text seems to be in the encoding %(name)s.") % {"name": note.detail}
        case NoteKind.CONTROLS_LEFT_OUT:
            return ngettext(
                "%(count)s control character is left out.", "%(count)s control characters are left out.", note.count
            ) % {"count": note.count}
        case NoteKind.HIDDEN_SHEETS:
            return ngettext(
                "A hidden sheet is sent to models, too: %(names)s.",
                "%(count)s hidden sheets are sent to models, too: %(names)s.",
                note.count,
            ) % {"count": note.count, "names": note.detail}
        case NoteKind.LINES_IN_OTHER_ENCODING:
            return ngettext(
                "%(count)s line is not in UTF-8; it seems to be in the encoding %(name)s.",
                "%(count)s lines are not in UTF-8; they seem to be in the encoding %(name)s.",
                note.count,
            ) % {"count": note.count, "name": note.detail}
        case NoteKind.CHARACTERS_BROKEN:
            return ngettext(
                "%(count)s character is damaged and replaced by “�”.",
                "%(count)s characters are damaged and replaced by “�”.",
                note.count,
            ) % {"count": note.count}
