from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from battles import series
from battles.labels.categories import BUILT_IN, category_names, find_category
from battles.labels.languages import language_name
from battles.models.categories import TEAM_MARK
from leaderboard.models import AUTO, COMPARE, OVERALL, REVIEW, SIDE_BY_SIDE, ImportedBoard
from leaderboard.models.listed import listed_boards

TITLES = {
    OVERALL: gettext_lazy("Overall"),
    SIDE_BY_SIDE: gettext_lazy("Side by side"),
    AUTO: gettext_lazy("Auto mode"),
    COMPARE: gettext_lazy("Compare"),
}
DESCRIPTIONS = {
    SIDE_BY_SIDE: gettext_lazy("votes on two models whose names were known"),
    AUTO: gettext_lazy("blind votes on pairs that auto mode chose for the prompt"),
    COMPARE: gettext_lazy("stars, given with the names known: of two answers to a prompt, the one with more stars won"),
}


def board_titles(boards: Iterable[str], team_id: int | None = None) -> dict[str, str]:
    """Return {name: title}; at most two queries, in a team three, for categories and imported boards."""
    keys = list(boards)
    reviews = [key.removeprefix(REVIEW) for key in keys if key.startswith(REVIEW)]
    of_reviews = series.owner().titles(reviews) if reviews else {}
    slugs = [key.partition(":")[2] for key in keys if key.startswith("imported:")]
    imported = dict(ImportedBoard.objects.filter(slug__in=slugs).values_list("slug", "title")) if slugs else {}
    categories = category_names(team_id) if any(key.startswith("category:") for key in keys) else {}
    chosen = {scope: board.title for scope, board in listed_boards().items() if board.title}
    return {
        key: chosen.get(key) or of_reviews.get(key.removeprefix(REVIEW)) or _title(key, categories, imported)
        for key in keys
    }


def board_description(board: str, team_id: int | None = None) -> str:
    """Describe the board's votes or source as part of a sentence; "" if the title suffices."""
    kind, _colon, name = board.partition(":")
    if board.startswith(REVIEW):
        return _("blind votes on stored answers, which count here only")
    if board in DESCRIPTIONS:
        return str(DESCRIPTIONS[board])
    if kind == "category" and name in BUILT_IN:
        return _("the prompt %(rule)s") % {"rule": BUILT_IN[name][1]}
    if kind == "category":
        category = find_category(name, team_id)
        return category.description if category is not None else ""
    if kind == "imported" and (imported := ImportedBoard.objects.filter(slug=name).first()):
        return " · ".join(filter(None, (imported.source, imported.licence)))
    return ""


def board_title(board: str, team_id: int | None = None) -> str:
    return board_titles([board], team_id)[board]


def _title(board: str, categories: dict[str, str], imported: dict[str, str]) -> str:
    kind, _colon, name = board.partition(":")
    match kind:
        case "category":
            return categories.get(name) or name.removeprefix(TEAM_MARK).replace("-", " ").capitalize()
        case "language":
            return language_name(name)
        case "imported":
            return imported.get(name, name)
    return str(TITLES.get(board, board))
