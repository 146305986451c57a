"""Receivers of signals of the apps below, and the port of series of battles."""

from collections.abc import Collection, Sequence

from django.dispatch import receiver
from django.urls import reverse

from accounts.actor import Actor
from accounts.models import Team
from accounts.teams.actions import team_archiving
from battles.models import Battle, BattleQuerySet, Session, Vote
from battles.series import VoteQuestion
from battles.signals import names_showing, review_votes_changed, session_deleting, vote_cast
from benchmarks.errors import AnswersHidden, RunInUse
from benchmarks.models import Run
from benchmarks.signals import answers_hiding, answers_reading, run_deleting
from reviews import access, actions
from reviews.actions.lifecycle import forget_run
from reviews.errors import OthersAreAsked, ReviewsOpen
from reviews.grading.showing import shows_upload
from reviews.models import Review, RunReader
from reviews.second_opinions.actions import forget_session
from uploads.models import Upload
from uploads.signals import upload_shown


@receiver(vote_cast)
def count_opinion_of_vote(vote: Vote, answers: Sequence[int | None], **_: object) -> None:
    if vote.series:
        actions.count_opinion(vote, answers)


@receiver(review_votes_changed)
def move_opinions_of_votes(added: Collection[Vote], removed: Collection[Vote], **_: object) -> None:
    actions.move_opinions(added, 1)
    actions.move_opinions(removed, -1)


@receiver(answers_reading)
def hide_or_note_reading(run: Run, actor: Actor, **_: object) -> None:
    """Raise AnswersHidden while a review hides them; else note the reader, whose opinions count nowhere then."""
    if access.hides_answers(actor, run):
        raise AnswersHidden
    owns = actor.user is not None and actor.user.pk == run.owner_id
    if actor.is_known and not owns:
        RunReader.objects.bulk_create([RunReader(run=run, person=actor.key)], ignore_conflicts=True)


@receiver(answers_hiding)
def is_hidden_by_a_review(run: Run, actor: Actor, **_: object) -> bool:
    return access.hides_answers(actor, run)


@receiver(run_deleting)
def refuse_while_review_is_open(run: Run, **_: object) -> None:
    if Review.objects.open().filter(run=run).exists():
        raise RunInUse
    forget_run(run)


@receiver(upload_shown)
def is_of_an_answer_to_grade(upload: Upload, actor: Actor, **_: object) -> bool:
    return shows_upload(actor, upload)


@receiver(team_archiving)
def end_reviews_of_team(team: Team, **_: object) -> None:
    of_team = Review.objects.open().filter(team=team)
    if of_team.filter(battle=None).exists():
        raise ReviewsOpen
    # Only those who asked others can find the reviews that are left.
    for review in of_team.select_for_update(no_key=True).order_by("pk"):
        actions.withdraw_review(review)


@receiver(names_showing)
def refuse_while_others_are_asked(battles: BattleQuerySet, **_: object) -> None:
    # The lock is that of reviews.second_opinions.actions.ask_others.
    locked = list(battles.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    if Review.objects.open().filter(battle__in=locked).exists():
        raise OthersAreAsked


@receiver(session_deleting)
def withdraw_second_opinions(session: Session, **_: object) -> None:
    forget_session(session)


class ReviewSeries:
    def url(self, series: str) -> str:
        return reverse("reviews:review", args=[series])

    def choices(self, series: str) -> Collection[str]:
        review = Review.objects.filter(public_id=series).only("takes_ties", "takes_both_bad").first()
        return Vote.Choice.values if review is None else review.choices

    def next_url(self, battle: Battle) -> str:
        return reverse("reviews:next", args=[battle.series])  # no query: a page may have many battles

    def questions(self, series: str) -> list[VoteQuestion]:
        stored = Review.objects.filter(public_id=series).values_list("questions", flat=True).first()
        return [VoteQuestion(question["text"], question["steps"]) for question in stored or ()]

    def may_read_board(self, actor: Actor, series: str) -> bool:
        review = access.readable_reviews(actor).select_related("run").filter(public_id=series).first()
        return review is not None and access.shows_results(actor, review)

    def titles(self, series: Collection[str]) -> dict[str, str]:
        return dict(Review.objects.filter(public_id__in=series).values_list("public_id", "title"))
