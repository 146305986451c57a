"""Database functions of this app; migrations create them: `RunSQL(read_sql("vote_order.sql"))`."""

from functools import cache
from pathlib import Path

from common import sql_files

# File that defines each function; battles.models.votes calls the first two.
FUNCTIONS = {
    "battles_next_vote_order": "vote_order.sql",
    "battles_next_star_order": "star_order.sql",
    "battles_settle_blind_charges": "settle_blind_charges_2.sql",
}
TRIGGERS = {"an_ended_turn_settles_its_blind_charges": "settle_blind_charges_2.sql"}


@cache
def read_sql(name: str) -> str:
    return sql_files.read_sql(Path(__file__).with_name(name))
