"""Payloads of reviews: an allow-list. Nothing here tells a winner before the results are shown."""

from collections.abc import Sequence
from typing import cast

from django.db.models import Prefetch, prefetch_related_objects

from accounts.actor import Actor
from accounts.teams.roles import Right, teams_with
from reviews import access
from reviews.actions.contrasts import names_of, read_contrasts
from reviews.actions.joining import networks_forgotten
from reviews.boards import ReviewBoard
from reviews.evidence import PersonEvidence
from reviews.grading.payloads import grades_payload
from reviews.grading.results import read_grade_results
from reviews.models import Contrast, Review
from reviews.payload_types import (
    AsksFor,
    Audience,
    ContrastPayload,
    Decision,
    Ending,
    Plan,
    QuestionResultPayload,
    ReviewPayload,
    ReviewPersonPayload,
    ReviewProgressPayload,
    ReviewResultsPayload,
    ReviewState,
    SpreadPayload,
)
from reviews.queries import Progress, Totals
from reviews.second_opinions.queries import Spread, read_spread

CONTRASTS = Prefetch("contrasts", Contrast.objects.with_models())


def review_payload(review: Review, actor: Actor, *, voted: int) -> ReviewPayload:
    sees_run = access.may_manage(actor, review) or review.team_id in teams_with(actor.memberships, Right.SEE)
    payload: ReviewPayload = {
        "id": review.public_id,
        "title": review.title,
        "instructions": review.instructions,
        "run": review.run.public_id if sees_run and review.run is not None else None,
        "battle": review.battle.public_id if sees_run and review.battle is not None else None,
        "audience": cast(Audience, review.audience),
        "state": cast(ReviewState, review.state),
        "asks_for": cast(AsksFor, review.asks_for),
        "plan": cast(Plan, review.plan),
        "cases": review.cases,
        "opinions_per_item": review.opinions_per_item,
        "most_per_person": review.most_per_person,
        "takes_ties": review.takes_ties,
        "takes_both_bad": review.takes_both_bad,
        "names_after_vote": review.names_after_vote,
        "hides_results": review.hides_results,
        "expected_people": review.expected_people,
        "repeats_percent": review.repeats_percent,
        "gold_percent": review.gold_percent,
        "least_seconds": review.least_seconds,
        "stop_share": review.stop_share,
        "stop_level": review.stop_level,
        "contrasts": _contrasts(review),
        "questions": review.questions,
        "opens_when_done": review.opens_when_done,
        "opens_at": review.opens_at,
        "closes_at": review.closes_at,
        "opened_at": review.opened_at,
        "ended_at": review.ended_at,
        "ended_by": cast(Ending | None, review.ended_by or None),
        "items": review.item_count,
        "left_out": review.left_out,
        "mine": actor.user is not None and review.owner_id == actor.user.pk,
        "asks_you": access.belongs_to_audience(actor, review),
        "takes_votes": review.takes_votes,
        "voted": voted,
        "created_at": review.created_at,
    }
    if review.team is not None:
        payload["team"] = review.team.slug
    if review.audience == Review.Audience.LINK and access.may_manage(actor, review):
        payload["code"] = review.code or None
    return payload


def _contrasts(review: Review) -> list[list[str]]:
    if not review.has_stop_rule:
        return []
    prefetch_related_objects([review], CONTRASTS)
    return names_of(review.contrasts.all())


def progress_payload(progress: Progress) -> ReviewProgressPayload:
    return {
        "opinions": progress.opinions,
        "opinions_wanted": progress.wanted,
        "under_way": progress.under_way,
        "people": progress.people_count,
        "knew_answers": progress.knew,
        "contrasts": progress.contrasts,
        "contrasts_decided": progress.decided,
    }


def person_payload(person: PersonEvidence) -> ReviewPersonPayload:
    reviewer, votes = person.reviewer, person.votes
    return {
        "number": person.number,
        "nickname": reviewer.nickname,
        "network": person.network or None,
        "joined_at": reviewer.joined_at,
        "votes_counted": person.counted,
        "votes_not_counted": person.not_counted,
        "repeated": votes.again if votes else 0,
        "repeated_same": votes.same if votes else 0,
        "gold": votes.gold if votes else 0,
        "gold_right": votes.gold_right if votes else 0,
        "left_percent": person.left_percent,
        "median_seconds": round(votes.median_seconds, 1) if votes else None,
        "answers_alike": [
            {"number": alike.number, "same": alike.same, "common": alike.common} for alike in person.alike
        ],
        "set_aside_at": reviewer.set_aside_at,
        "because": reviewer.because,
    }


def results_payload(
    review: Review, totals: Totals, board: ReviewBoard, questions: Sequence[QuestionResultPayload]
) -> ReviewResultsPayload:
    payload: ReviewResultsPayload = {
        "id": review.public_id,
        "ended_by": cast(Ending | None, review.ended_by or None),
        "left_out": review.left_out,
        "votes_counted": totals.counted,
        "excluded": dict(totals.excluded),
        "people": totals.people,
        "most_of_a_network": review.most_of_a_network,
        "networks_forgotten": networks_forgotten(review),
        "contrasts": [contrast_payload(contrast) for contrast in read_contrasts(review)],
        "board": board.key,
        "snapshot": board.snapshot,
        "computed_at": board.computed_at,
        "results": board.results,
        "questions": list(questions),
    }
    if review.battle_id is not None:
        payload["spread"] = spread_payload(read_spread(review))
    if review.is_graded:
        payload["grades"] = grades_payload(review, read_grade_results(review))
    return payload


def contrast_payload(contrast: Contrast) -> ContrastPayload:
    return {
        "first_model": contrast.first_model.full_slug,
        "second_model": contrast.second_model.full_slug,
        "decision": cast(Decision, contrast.decision),
        "decided_after": contrast.decided_after,
        "people": contrast.people,
        "opinions": contrast.opinions,
        "mean": contrast.mean,
        "low": contrast.low,
        "high": contrast.high,
    }


def spread_payload(spread: Spread) -> SpreadPayload:
    first, second, tie, both_bad = spread.counts
    return {
        "first_model": spread.first.slug,
        "second_model": spread.second.slug,
        "first": first,
        "second": second,
        "tie": tie,
        "both_bad": both_bad,
    }
