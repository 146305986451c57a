from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from accounts import audit
from common.errors import ArenaError
from leaderboard.aggregation import imported_boards
from leaderboard.imports.store import store_votes
from leaderboard.imports.tables import refusing_without_fit
from leaderboard.models import AggregationRun, Contestant, ImportedBoard
from models_registry.models import LanguageModel


class BoardExists(ArenaError):
    code = "board_exists"
    message = _("This board already exists. Choose to replace its votes, or use another name.")
    http_status = 409


@dataclass(frozen=True)
class BoardDetails:
    """Texts of an imported board; its key is `imported:<slug>`."""

    slug: str
    title: str = ""
    source: str = ""
    licence: str = ""


@transaction.atomic
def import_board(
    path: Path,
    details: BoardDetails,
    *,
    models: Mapping[str, LanguageModel],
    replace: bool = False,
    on_progress: Callable[[int], None] = lambda rows: None,
) -> AggregationRun:
    """Store the table's votes and publish the board, in one transaction. models: by contestants' names.

    replace: store the table as the board's next edition; snapshots of earlier ones stay.
    Raises BoardExists, BadTable, NotATable and OSError.
    """
    row, is_new = ImportedBoard.objects.get_or_create(slug=details.slug)
    board = ImportedBoard.objects.select_for_update().get(pk=row.pk)
    if not is_new and not replace:
        raise BoardExists
    board.title = details.title or board.title or details.slug
    board.source, board.licence = details.source or board.source, details.licence or board.licence
    board.edition += 1
    board.save()
    rows = store_votes(board, path, on_progress=on_progress)
    _link_models(board, models)
    audit.record(None, "votes.import", board.scope, file=path.name, edition=board.edition, rows=rows)
    with refusing_without_fit(path):
        return imported_boards.publish(board)


def default_slug(path: Path) -> str:
    return slugify(path.stem)[:60]


def _link_models(board: ImportedBoard, models: Mapping[str, LanguageModel]) -> None:
    contestants = list(Contestant.objects.filter(board=board, name__in=models))
    for contestant in contestants:
        contestant.model = models[contestant.name]
    Contestant.objects.bulk_update(contestants, ["model"])
