"""SQL statements, and functions with their triggers, which migrations create."""

from pathlib import Path

from common import sql_files
from leaderboard.rating import elo

# {name: file that defines it}. The trigger is on battles_vote (docs/adr/0028).
FUNCTIONS = {"leaderboard_move_elo": "elo_2.sql"}
TRIGGERS = {"elo_moves_with_a_votes_number": "elo_2.sql"}
_ELO = {"k": f"{elo.K:g}", "start": f"{elo.START:g}", "scale": f"{elo.SCALE:g}"}


def read_sql(name: str, **values: str) -> str:
    """Return a file's SQL, with {k}, {start} and {scale} from leaderboard.rating.elo."""
    return sql_files.read_sql(Path(__file__).with_name(name), **_ELO, **values)
