"""Making a board of a foreign table of votes."""

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
from leaderboard.models import AggregationRun, Contestant, ImportedBoard
from models_registry.models import LanguageModel


class BoardExists(ArenaError):
    code = "board_exists"
    message = _("This board already exists. Choose to replace its votes, or use another name.")
    http_status = 409


@dataclass(frozen=True)
class About:
    """What people read of an imported board. A slug names it in addresses: `imported:<slug>`."""

    slug: str
    title: str = ""
    source: str = ""
    licence: str = ""


@transaction.atomic
def import_board(
    path: Path,
    about: About,
    *,
    models: Mapping[str, LanguageModel],
    replace: bool = False,
    on_progress: Callable[[int], None] = lambda votes: None,
) -> AggregationRun:
    """Store the table's votes and publish the board; all of it or nothing. `models`: by contestants' names.

    With `replace` the table becomes the next edition of a board that exists; snapshots of earlier ones stay.
    Raises BoardExists, BadTable, NotATable and OSError.
    """
    made, is_new = ImportedBoard.objects.get_or_create(slug=about.slug)
    board = ImportedBoard.objects.select_for_update().get(pk=made.pk)
    if not is_new and not replace:
        raise BoardExists
    board.title = about.title or board.title or about.slug
    board.source, board.licence = about.source or board.source, about.licence or board.licence
    board.edition += 1
    board.save()
    rows = store_votes(board, path, on_progress=on_progress)
    _link(board, models)
    audit.record(None, "votes.import", board.scope, file=path.name, edition=board.edition, rows=rows)
    return imported_boards.publish(board)


def slug_of(path: Path) -> str:
    """What a board is called when nobody says."""
    return slugify(path.stem)[:60]


def _link(board: ImportedBoard, models: Mapping[str, LanguageModel]) -> None:
    known = list(Contestant.objects.filter(board=board, name__in=models))
    for contestant in known:
        contestant.model = models[contestant.name]
    Contestant.objects.bulk_update(known, ["model"])
