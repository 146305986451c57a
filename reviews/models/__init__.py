from reviews.models.grades import GradedAnswer, ReviewGrade
from reviews.models.pairs import ReviewBattle, ReviewItem, RunReader
from reviews.models.people import PersonalCode, Reviewer
from reviews.models.reports import DecisionReport
from reviews.models.reviews import Review
from reviews.models.stop_rule import Contrast

__all__ = [
    "Contrast",
    "DecisionReport",
    "GradedAnswer",
    "PersonalCode",
    "Review",
    "ReviewBattle",
    "ReviewGrade",
    "ReviewItem",
    "Reviewer",
    "RunReader",
]
