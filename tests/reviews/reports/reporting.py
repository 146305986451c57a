from django.test import Client

from models_registry.models import LanguageModel
from reviews.models import DecisionReport
from tests.leaderboard import vote_factory
from tests.leaderboard.tally_checks import aggregate

QUESTION = "Which model knows capitals?"


def publish_board() -> list[LanguageModel]:
    base, ada, bob = vote_factory.contestants("base", "ada2", "bob2")
    vote_factory.cast_many(ada, base, left=70, right=50)
    vote_factory.cast_many(bob, base, left=10, right=110)
    aggregate()
    return [base, ada, bob]


def page_of(report: DecisionReport) -> str:
    return f"/reports/{report.public_id}/"


def file_of(browser: Client, report: DecisionReport) -> bytes:
    return browser.get(f"{page_of(report)}report.json").content
