"""What people change in the arena: start, follow up, regenerate, stop, vote, publish, look after their sessions."""

from battles.actions.publishing import publish, withdraw
from battles.actions.reporting import report
from battles.actions.sessions import (
    delete_discarded,
    delete_session,
    discard_session,
    file_stars_under,
    file_votes_under,
    restore_session,
    update_session,
)
from battles.actions.starting import start_battle, start_session
from battles.actions.turns import follow_up, regenerate, stop
from battles.actions.voting import cast_vote, give_feedback, give_stars

__all__ = [
    "cast_vote",
    "delete_discarded",
    "delete_session",
    "discard_session",
    "file_stars_under",
    "file_votes_under",
    "follow_up",
    "give_feedback",
    "give_stars",
    "publish",
    "regenerate",
    "report",
    "restore_session",
    "start_battle",
    "start_session",
    "stop",
    "update_session",
    "withdraw",
]
