"""What people call a board; its key is what URLs, tables and files call it."""

from collections.abc import Iterable

from django.utils.translation import get_language_info, gettext_lazy
from django.utils.translation import gettext as _

from battles.labels.labels import UNDETERMINED
from leaderboard.models import OVERALL, ImportedBoard

KINDS = {
    OVERALL: gettext_lazy("Overall"),
    "side-by-side": gettext_lazy("Side by side"),
    "compare": gettext_lazy("Compare"),
}
CATEGORIES = {
    "coding": gettext_lazy("Coding"),
    "maths": gettext_lazy("Maths"),
    "creative-writing": gettext_lazy("Creative writing"),
    "instruction-following": gettext_lazy("Instruction following"),
    "multi-turn": gettext_lazy("Multi-turn"),
    "long-prompt": gettext_lazy("Long prompt"),
    "hard-prompt": gettext_lazy("Hard prompt"),
    "images": gettext_lazy("Images"),
}


def titles_of(boards: Iterable[str]) -> dict[str, str]:
    """{key: title}; one query when imported boards are among them."""
    keys = list(boards)
    slugs = [key.partition(":")[2] for key in keys if key.startswith("imported:")]
    imported = dict(ImportedBoard.objects.filter(slug__in=slugs).values_list("slug", "title")) if slugs else {}
    return {key: _title(key, imported) for key in keys}


def title_of(board: str) -> str:
    return titles_of([board])[board]


def _title(board: str, imported: dict[str, str]) -> str:
    kind, _colon, name = board.partition(":")
    match kind:
        case "category":
            return str(CATEGORIES.get(name) or name.replace("-", " ").capitalize())
        case "language":
            return _language(name)
        case "imported":
            return imported.get(name, name)
    return str(KINDS.get(board, board))


def _language(code: str) -> str:
    if code == UNDETERMINED:
        return _("Undetermined language")
    try:
        return str(get_language_info(code)["name_translated"]).capitalize()
    except KeyError:
        return code
