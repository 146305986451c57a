"""Runs and boards of which a person may make a report."""

from dataclasses import dataclass

from django.http import Http404
from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team, User
from accounts.teams.places import place_named
from benchmarks import access
from benchmarks.models import Run
from common.errors import NotAllowed
from leaderboard.boards.places import BoardPlace
from leaderboard.boards.titles import board_title
from reviews.access import get_review_or_404, reads_opinions
from reviews.models import DecisionReport, Review
from reviews.reports import actions


@dataclass(frozen=True)
class Source:
    """Run, a review of one, or a board of a place."""

    run: Run | None = None
    review: Review | None = None
    board: str = ""
    place: Team | None = None

    @property
    def title(self) -> str:
        if self.run is not None:
            return self.run.name or self.run.version.template.name
        if self.review is not None:
            return self.review.title
        return board_title(self.board, None if self.place is None else self.place.pk)

    @property
    def team_query(self) -> str:
        return BoardPlace(self.place).more

    @property
    def question(self) -> str:
        """Return a question to begin with."""
        if self.run is not None:
            return _("Which of these models answers “%(template)s” best?") % {
                "template": self.run.version.template.name
            }
        if self.review is not None:
            return _("Which of these models do people prefer in “%(title)s”?") % {"title": self.review.title}
        return _("Which model is the best on the board “%(board)s”?") % {"board": self.title}

    def store_report(self, owner: User, question: str) -> DecisionReport:
        """Raises NoSuchBoard and NothingToReport."""
        if self.run is not None:
            return actions.report_on_run(owner=owner, run=self.run, question=question)
        if self.review is not None:
            return actions.report_on_review(owner=owner, review=self.review, question=question)
        return actions.report_on_board(owner=owner, board=self.board, team=self.place, question=question)


def find_source(actor: Actor, *, run: str, board: str, team: str | None, review: str = "") -> Source:
    """Return the run or review of an id, else the board of a place. team: as for place_named.

    Raises Http404 for a run or review of others, NotAllowed for a run of a team that the actor only sees, and NotFound.
    """
    if review:
        asked = get_review_or_404(actor, review.replace("\0", ""))
        if asked.battle is not None or not reads_opinions(actor, asked):
            raise Http404
        return Source(review=asked)
    if not run:
        return Source(board=board, place=place_named(actor, team))
    found = access.get_run_or_404(actor, run.replace("\0", ""))
    if not access.may_grade(actor, found):
        if access.owns(actor, found):
            raise NotAllowed
        raise Http404
    return Source(run=found)
