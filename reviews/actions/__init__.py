from reviews.actions.battles import next_battle
from reviews.actions.grading import grade_answer, next_answer
from reviews.actions.joining import close_link, find_by_code, join_review, renew_code
from reviews.actions.lifecycle import (
    change_review,
    close_due,
    close_review,
    create_review,
    delete_review,
    open_due,
    open_review,
    withdraw_review,
)
from reviews.actions.opinions import count_opinion, move_opinions
from reviews.actions.own_prompts import ask_models_first
from reviews.actions.people import set_aside, take_back
from reviews.actions.stopping import end_away_people

__all__ = [
    "ask_models_first",
    "change_review",
    "close_due",
    "close_link",
    "close_review",
    "count_opinion",
    "create_review",
    "delete_review",
    "end_away_people",
    "find_by_code",
    "grade_answer",
    "join_review",
    "move_opinions",
    "next_answer",
    "next_battle",
    "open_due",
    "open_review",
    "renew_code",
    "set_aside",
    "take_back",
    "withdraw_review",
]
