"""What people change in the arena: start, follow up, regenerate, stop, vote, publish, report, look after
their sessions; and what moderators do about it."""

from battles.actions.battles import start_battle, start_session
from battles.actions.moderation import ban_people, dismiss_cases, hide_battles, settle_cases, show_battles_again
from battles.actions.reports import report
from battles.actions.sessions import (
    delete_discarded,
    delete_each,
    delete_session,
    discard_session,
    file_stars_under,
    file_votes_under,
    restore_session,
    update_session,
)
from battles.actions.shares import publish, withdraw, withdraw_consent, withdraw_every_consent
from battles.actions.turns import follow_up, regenerate, stop
from battles.actions.votes import cast_vote, give_feedback, give_stars

__all__ = [
    "ban_people",
    "cast_vote",
    "delete_discarded",
    "delete_each",
    "delete_session",
    "discard_session",
    "dismiss_cases",
    "file_stars_under",
    "file_votes_under",
    "follow_up",
    "give_feedback",
    "give_stars",
    "hide_battles",
    "publish",
    "regenerate",
    "report",
    "restore_session",
    "settle_cases",
    "show_battles_again",
    "start_battle",
    "start_session",
    "stop",
    "update_session",
    "withdraw",
    "withdraw_consent",
    "withdraw_every_consent",
]
