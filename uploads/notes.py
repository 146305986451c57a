"""Sentences on what models do not receive of a file, and on what reading it assumed."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from uploads.reading.findings import Note, NoteKind

_SENTENCES = {
    NoteKind.PICTURES_LEFT_OUT: ngettext_lazy(
        "%(count)s picture in the file is left out.", "%(count)s pictures in the file are left out.", "number"
    ),
    NoteKind.CHARTS_LEFT_OUT: ngettext_lazy("%(count)s chart is left out.", "%(count)s charts are left out.", "number"),
    NoteKind.OBJECTS_LEFT_OUT: ngettext_lazy(
        "%(count)s embedded object is left out.", "%(count)s embedded objects are left out.", "number"
    ),
    NoteKind.OUTPUTS_LEFT_OUT: ngettext_lazy(
        "%(count)s output that is no text is left out.", "%(count)s outputs that are no text are left out.", "number"
    ),
    NoteKind.DELETIONS_LEFT_OUT: ngettext_lazy(
        "Text deleted with tracked changes is left out, in %(count)s place.",
        "Text deleted with tracked changes is left out, in %(count)s places.",
        "number",
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
        "number",
    ),
    NoteKind.HIDDEN_SHEETS: ngettext_lazy(
        "%(count)s hidden sheet is sent, too.", "%(count)s hidden sheets are sent, too.", "number"
    ),
    NoteKind.HIDDEN_SLIDES: ngettext_lazy(
        "%(count)s hidden slide is sent, too.", "%(count)s hidden slides are sent, too.", "number"
    ),
    NoteKind.FORMULAS_WITHOUT_VALUE: ngettext_lazy(
        "%(count)s formula has no stored result and is left out. Save the file in a spreadsheet program first.",
        "%(count)s formulas have no stored result and are left out. Save the file in a spreadsheet program first.",
        "number",
    ),
    NoteKind.PARTS_UNREADABLE: ngettext_lazy(
        "%(count)s part cannot be read and is left out: %(detail)s.",
        "%(count)s parts cannot be read and are left out: %(detail)s.",
        "number",
    ),
    NoteKind.FRAMES_LEFT_OUT: ngettext_lazy(
        "Models receive the first picture only; %(count)s more is left out.",
        "Models receive the first picture only; %(count)s more are left out.",
        "number",
    ),
    NoteKind.CHARACTERS_LEFT_OUT: _("The text is too long: models receive it up to page %(count)s of %(detail)s only."),
    NoteKind.PAGES_LEFT_OUT: ngettext_lazy(
        "Models receive the first %(detail)s pages only; %(count)s more is left out.",
        "Models receive the first %(detail)s pages only; %(count)s more are left out.",
        "number",
    ),
    NoteKind.READING_STOPPED: ngettext_lazy(
        "Reading took too long and ended with page %(detail)s; %(count)s more is left out.",
        "Reading took too long and ended with page %(detail)s; %(count)s more are left out.",
        "number",
    ),
    NoteKind.PAGES_WITHOUT_TEXT: ngettext_lazy(
        "%(count)s page has no text: it seems to be a picture or scanned. Models do not see it.",
        "%(count)s pages have no text: they seem to be pictures or scanned. Models do not see them.",
        "number",
    ),
    NoteKind.PAGES_DAMAGED: ngettext_lazy(
        "%(count)s page is damaged and left out.",
        "%(count)s pages are damaged and left out.",
        "number",
    ),
    NoteKind.SIGNS_UNREADABLE: ngettext_lazy(
        "%(count)s character could not be read; models receive � for it.",
        "%(count)s characters could not be read; models receive � for each.",
        "number",
    ),
    NoteKind.SIGNS_ASSUMED: ngettext_lazy(
        "The file does not say which letter %(count)s of its characters is; check the text.",
        "The file does not say which letters %(count)s of its characters are; check the text.",
        "number",
    ),
    NoteKind.ATTACHMENTS_LEFT_OUT: ngettext_lazy(
        "The file inside it is left out: %(detail)s",
        "The %(count)s files inside it are left out: %(detail)s",
        "number",
    ),
    NoteKind.END_MISSING: _("The end of the file is missing, and with it perhaps some pages."),
    NoteKind.FORM_UNREADABLE: _("Not all form fields and comments could be read."),
    NoteKind.FORM_LABELS_LEFT_OUT: _("Models receive the data of this interactive form (XFA), not its labels."),
    NoteKind.ENCODING_ASSUMED: _("The text seems to be in the encoding %(detail)s."),
    NoteKind.CONTROLS_LEFT_OUT: ngettext_lazy(
        "%(count)s control character is left out.",
        "%(count)s control characters are left out.",
        "number",
    ),
    NoteKind.LINES_IN_OTHER_ENCODING: ngettext_lazy(
        "%(count)s line is not in UTF-8; it seems to be in the encoding %(detail)s.",
        "%(count)s lines are not in UTF-8; they seem to be in the encoding %(detail)s.",
        "number",
    ),
    NoteKind.CHARACTERS_BROKEN: ngettext_lazy(
        "%(count)s character is damaged and replaced by “�”.",
        "%(count)s characters are damaged and replaced by “�”.",
        "number",
    ),
}


def note_message(note: Note) -> str:
    return str(_SENTENCES[note.kind] % {"number": note.count, "count": intcomma(note.count), "detail": note.detail})
