from reviews.models.people import PersonalCode, Reviewer
from reviews.models.reports import DecisionReport
from reviews.models.reviews import Review, ReviewBattle, ReviewItem, RunReader

__all__ = ["DecisionReport", "PersonalCode", "Review", "ReviewBattle", "ReviewItem", "Reviewer", "RunReader"]
