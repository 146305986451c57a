import pytest

from accounts.actor import Actor
from reviews.models import DecisionReport
from reviews.reports import actions
from tests.reviews.reports.reporting import QUESTION, publish_board
from tests.worlds.benchmarks.samples import Sample


@pytest.fixture
def of_run(sample: Sample) -> DecisionReport:
    return actions.report_on_run(owner=sample.run.owner, run=sample.run, question=QUESTION)


@pytest.fixture
def of_board(member: Actor) -> DecisionReport:
    publish_board()
    return actions.report_on_board(owner=member.user, board="overall", team=None, question="Who leads?")
