"""Sentences on what models do not receive of a file, and on what reading it assumed."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from uploads.reading.findings import Note, NoteKind

_SENTENCES = {
    NoteKind.PICTURES_LEFT_OUT: ngettext_lazy(
        "%(count)s picture in the file is left out.", "%(count)s pictures in the file are left out.", "count"
    ),
    NoteKind.CHARTS_LEFT_OUT: ngettext_lazy("%(count)s chart is left out.", "%(count)s charts are left out.", "count"),
    NoteKind.OBJECTS_LEFT_OUT: ngettext_lazy(
        "%(count)s embedded object is left out.", "%(count)s embedded objects are left out.", "count"
    ),
    NoteKind.OUTPUTS_LEFT_OUT: ngettext_lazy(
        "%(count)s output that is no text is left out.", "%(count)s outputs that are no text are left out.", "count"
    ),
    NoteKind.DELETIONS_LEFT_OUT: ngettext_lazy(
        "Text deleted with tracked changes is left out, in %(count)s place.",
        "Text deleted with tracked changes is left out, in %(count)s places.",
        "count",
    ),
    NoteKind.MACROS_LEFT_OUT: _("The macros are left out; they were not run."),
    NoteKind.MARKUP_LEFT_OUT: _(
        "Sent as text, without markup and scripts. For the source, delete the file and upload it with a name that ends "
        "in .txt."
    ),
    NoteKind.SOURCE_SENT: _("Sent as source: the page is a template, is mostly a program, or has no text."),
    NoteKind.LINKS_NOT_FOLLOWED: ngettext_lazy(
        "%(count)s link to content elsewhere was not followed; text that the file keeps of it is sent.",
        "%(count)s links to content elsewhere were not followed; text that the file keeps of them is sent.",
        "count",
    ),
    NoteKind.HIDDEN_SHEETS: ngettext_lazy(
        "%(count)s hidden sheet is sent, too.", "%(count)s hidden sheets are sent, too.", "count"
    ),
    NoteKind.HIDDEN_SLIDES: ngettext_lazy(
        "%(count)s hidden slide is sent, too.", "%(count)s hidden slides are sent, too.", "count"
    ),
    NoteKind.FORMULAS_WITHOUT_VALUE: ngettext_lazy(
        "%(count)s formula has no stored result and is left out. Save the file in a spreadsheet program first.",
        "%(count)s formulas have no stored result and are left out. Save the file in a spreadsheet program first.",
        "count",
    ),
    NoteKind.PARTS_UNREADABLE: ngettext_lazy(
        "%(count)s part cannot be read and is left out: %(detail)s.",
        "%(count)s parts cannot be read and are left out: %(detail)s.",
        "count",
    ),
}


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
            return gettext("The text is too long: models receive it up to page %(page)s of %(pages)s only.") % {
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
            return gettext("The end of the file is missing, and with it perhaps some pages.")
        case NoteKind.FORM_UNREADABLE:
            return gettext("Not all form fields and comments could be read.")
        case NoteKind.FORM_LABELS_LEFT_OUT:
            return gettext("Models receive the data of this interactive form (XFA), not its labels.")
        case NoteKind.ENCODING_ASSUMED:
            return gettext("The text seems to be in the encoding %(name)s.") % {"name": note.detail}
        case NoteKind.CONTROLS_LEFT_OUT:
            return ngettext(
                "%(count)s control character is left out.", "%(count)s control characters are left out.", note.count
            ) % {"count": note.count}
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
        case _:
            return str(_SENTENCES[note.kind] % {"count": note.count, "detail": note.detail})
