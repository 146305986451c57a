from battles.actions.battles import start_battle, start_session
from battles.actions.moderation import ban_people, dismiss_cases, hide_battles, settle_cases, unhide_battles
from battles.actions.reports import report
from battles.actions.sessions import (
    delete_discarded,
    delete_session,
    delete_sessions,
    delete_team_sessions,
    discard_session,
    reassign_stars,
    reassign_votes,
    restore_session,
    share_with_team,
    update_session,
)
from battles.actions.shares import (
    list_in_gallery,
    publish,
    unlist,
    withdraw,
    withdraw_consent,
    withdraw_every_consent,
)
from battles.actions.turns import follow_up, regenerate, stop
from battles.actions.votes import cast_vote, give_feedback, give_stars

__all__ = [
    "ban_people",
    "cast_vote",
    "delete_discarded",
    "delete_session",
    "delete_sessions",
    "delete_team_sessions",
    "discard_session",
    "dismiss_cases",
    "follow_up",
    "give_feedback",
    "give_stars",
    "hide_battles",
    "list_in_gallery",
    "publish",
    "reassign_stars",
    "reassign_votes",
    "regenerate",
    "report",
    "restore_session",
    "settle_cases",
    "share_with_team",
    "start_battle",
    "start_session",
    "stop",
    "unhide_battles",
    "unlist",
    "update_session",
    "withdraw",
    "withdraw_consent",
    "withdraw_every_consent",
]
