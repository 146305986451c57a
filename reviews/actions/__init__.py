from reviews.actions.battles import next_battle
from reviews.actions.lifecycle import (
    change_review,
    close_due,
    close_review,
    create_review,
    delete_review,
    open_review,
    withdraw_review,
)
from reviews.actions.opinions import count_opinion

__all__ = [
    "change_review",
    "close_due",
    "close_review",
    "count_opinion",
    "create_review",
    "delete_review",
    "next_battle",
    "open_review",
    "withdraw_review",
]
