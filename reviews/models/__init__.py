from reviews.models.reports import DecisionReport
from reviews.models.reviews import Review, ReviewBattle, ReviewItem, RunReader

__all__ = ["DecisionReport", "Review", "ReviewBattle", "ReviewItem", "RunReader"]
