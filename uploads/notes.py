"""Sentences on what models do not receive of a file, and on what reading it assumed."""

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
