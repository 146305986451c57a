"""Evidence on the people of a review for its owner: how they vote, never for which model."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count

from battles.models import Vote
from common.payload_types import JsonObject
from reviews.models import Review, ReviewBattle, Reviewer, ReviewGrade
from reviews.statistics.quality import JudgedPair, Steadiness, alike_people, steadiness

SIDES: dict[str, bool] = {Vote.Choice.LEFT: True, Vote.Choice.RIGHT: False}


@dataclass(frozen=True)
class AlikePerson:
    number: int
    name: str
    same: int
    common: int


@dataclass(frozen=True)
class PersonEvidence:
    """number: in the order in which people came. network: number of their network, 0 if it is not known."""

    reviewer: Reviewer
    number: int
    network: int
    counted: int
    not_counted: int
    votes: Steadiness | None
    alike: list[AlikePerson]

    @property
    def left_percent(self) -> int | None:
        if self.votes is None or not self.votes.decided:
            return None
        return round(100 * self.votes.left / self.votes.decided)

    @property
    def as_json(self) -> JsonObject:
        """Return the evidence that is stored with a person who is set aside."""
        votes = self.votes
        return {
            "counted": self.counted, "not_counted": self.not_counted,
            "repeated": votes.again if votes else 0, "repeated_alike": votes.same if votes else 0,
            "gold": votes.gold if votes else 0, "gold_right": votes.gold_right if votes else 0,
            "left_percent": self.left_percent, "median_seconds": votes.median_seconds if votes else None,
            "answers_as": [{"person": alike.number, "same": alike.same, "of": alike.common} for alike in self.alike],
        }  # fmt: skip


def read_people(review: Review) -> list[PersonEvidence]:
    """Return people who joined or were shown a battle, in the order in which they came."""
    reviewers = list(review.reviewers.order_by("pk"))
    votes, counted = _grades(review) if review.is_graded else _votes(review)
    numbers = {reviewer.person: number for number, reviewer in enumerate(reviewers, start=1)}
    networks = {row.network: row.number for row in read_networks(review)}
    # Grades are few values: two careful people give the same ones.
    alike = (
        {}
        if review.is_graded
        else _alike([vote for of_person in votes.values() for vote in of_person], reviewers, numbers)
    )
    return [
        PersonEvidence(
            reviewer=reviewer, number=numbers[reviewer.person], network=networks.get(reviewer.network, 0),
            counted=counted[reviewer.person], not_counted=len(votes[reviewer.person]) - counted[reviewer.person],
            votes=steadiness(votes[reviewer.person]) if votes[reviewer.person] else None,
            alike=alike.get(reviewer.person, []),
        )
        for reviewer in reviewers
    ]  # fmt: skip


def find_person(review: Review, number: int) -> PersonEvidence | None:
    return next((person for person in read_people(review) if person.number == number), None)


def _votes(review: Review) -> tuple[dict[str, list[JudgedPair]], dict[str, int]]:
    """Return votes by person, and the numbers of those that count."""
    votes: dict[str, list[JudgedPair]] = defaultdict(list)
    counted: dict[str, int] = defaultdict(int)
    drawn = ReviewBattle.objects.filter(review=review, ended_at__isnull=False, battle__vote__isnull=False)
    rows = drawn.order_by("ended_at").values_list(
        "person", "review_item", "repeats", "gold_model", "ended_at", "battle__created_at", "battle__vote__choice",
        "battle__vote__model_left", "battle__vote__model_right", "battle__vote__excluded_reason",
    )  # fmt: skip
    for person, item, repeats, gold, ended_at, shown_at, choice, left, right, reason in rows:
        is_left = SIDES.get(choice)
        winner = choice if is_left is None else left if is_left else right
        seconds = 0.0 if ended_at is None else (ended_at - shown_at).total_seconds()
        is_repeat = repeats is not None
        votes[person].append(JudgedPair(person, item, winner, is_left, seconds, is_repeat=is_repeat, gold=gold))
        counted[person] += not reason
    return votes, counted


def _grades(review: Review) -> tuple[dict[str, list[JudgedPair]], dict[str, int]]:
    grades: dict[str, list[JudgedPair]] = defaultdict(list)
    counted: dict[str, int] = defaultdict(int)
    given = ReviewGrade.objects.filter(review=review, value__isnull=False, ended_at__isnull=False).order_by("ended_at")
    for grade in given:
        seconds = 0.0 if grade.ended_at is None else (grade.ended_at - grade.drawn_at).total_seconds()
        grades[grade.person].append(JudgedPair(grade.person, grade.answer_id, grade.value, None, seconds))
        counted[grade.person] += not grade.excluded_reason
    return grades, counted


def _alike(
    votes: Iterable[JudgedPair], reviewers: Sequence[Reviewer], numbers: dict[str, int]
) -> dict[str, list[AlikePerson]]:
    names = {reviewer.person: reviewer.nickname for reviewer in reviewers}
    found: dict[str, list[AlikePerson]] = defaultdict(list)
    for alike in alike_people(votes):
        for person, other in (alike.people, alike.people[::-1]):
            if person in numbers and other in numbers:
                found[person].append(AlikePerson(numbers[other], names[other], alike.same, alike.common))
    return found


@dataclass(frozen=True)
class NetworkPeople:
    """number: 1 for the network with most people, 0 for unknown ones."""

    network: str
    number: int
    people: int


def read_networks(review: Review) -> list[NetworkPeople]:
    """Return the networks of people who joined by codes, the largest first."""
    rows = review.reviewers.order_by().values_list("network").annotate(n=Count("pk")).order_by("-n", "network")
    counts = dict(rows)
    forgotten = counts.pop("", 0)
    networks = [NetworkPeople(network, number, n) for number, (network, n) in enumerate(counts.items(), start=1)]
    return [*networks, NetworkPeople("", 0, forgotten)] if networks and forgotten else networks
