import json
import re
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.errors import ArenaError
from leaderboard.imports.actions import BoardDetails, default_slug, import_board
from leaderboard.imports.mapping import BadMapping, read_mapping
from leaderboard.imports.store import BadTable
from leaderboard.imports.tables import NotATable


class Command(BaseCommand):
    help = (
        "Make a board, imported:SLUG, of somebody else's votes. The table is CSV or JSON lines with model_a, model_b "
        "and winner (model_a, model_b, tie, both_bad), or with counts in wins_a, wins_b, ties and both_bad; judge, "
        "tstamp, category and style counts (tokens_a, headers_a, bold_a, lists_a, …_b) are used where they exist."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--as-models",
            nargs="?",
            type=Path,
            const=None,
            metavar="MAPPING",
            help="the names in the table are models: each gets its own line on the board, and nothing is added to the "
            "registry. MAPPING (YAML `name: slug`, or CSV with name and model) says which of them the registry knows, "
            "so that the board shows their organization, licence and price.",
        )
        parser.add_argument("--slug", default="", help="the board's name in addresses (default: the file's)")
        parser.add_argument("--title", default="", help="the board's name for people")
        parser.add_argument("--source", default="", help="where the table comes from")
        parser.add_argument("--licence", default="", help="under which terms it may be used")
        parser.add_argument("--replace", action="store_true", help="the table is a newer edition of this board's")
        parser.add_argument(
            "--reference",
            action="store_true",
            help="store nothing: print as JSON what plain maximum likelihood makes of the table",
        )

    def handle(self, *args: object, file: Path, reference: bool, **options: Any) -> None:
        try:
            if reference:
                from leaderboard.imports.reference import fit_table

                self.stdout.write(json.dumps(fit_table(file)))
            else:
                self._import(file, **options)
        except BadTable as error:
            lines = [f"{file}:{bad.line}: {bad.sentence}" for bad in error.lines]
            raise CommandError("\n".join([*lines, "Nothing was imported."])) from error
        except (NotATable, BadMapping, ValueError) as error:
            raise CommandError(f"{error} Nothing was imported.") from error
        except ArenaError as error:
            raise CommandError(error.detail) from error
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error

    def _import(
        self, file: Path, *, as_models: Path | None, slug: str, title: str, source: str, licence: str, replace: bool,
        **options: object,
    ) -> None:  # fmt: skip
        details = BoardDetails(slug or default_slug(file), title[:120], source[:300], licence[:120])
        if not re.fullmatch(r"[-a-z0-9_]{1,60}", details.slug):
            raise CommandError("A slug has up to 60 small letters, digits, hyphens and underscores: say --slug.")
        run = import_board(
            file,
            details,
            models=read_mapping(as_models) if as_models else {},
            replace=replace,
            on_progress=lambda rows: self.stderr.write(f"{rows:,} rows", ending="\r"),
        )
        self.stdout.write(
            f"Board {run.scope}: {run.votes_counted:,} votes on {run.standings.count()} models, snapshot "
            f"{run.public_id}, {run.duration_ms} ms."
        )
