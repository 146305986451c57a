import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

import numpy as np

from accounts.models import Team
from battles.models import Vote, VoteNetwork
from common.payload_types import JsonObject
from leaderboard.counting import method, reviews
from leaderboard.counting.board_keys import Board
from leaderboard.counting.dated_votes import OverallVotes, read_overall_votes
from leaderboard.counting.schedule import database_now
from leaderboard.counting.vote_arrays import BoardVotes, read_board
from leaderboard.models import OVERALL, AnomalyReview
from leaderboard.rating.anomalies.earlier_fits import LEFT, RIGHT, TIE
from leaderboard.rating.anomalies.eprocess import KINDS, Anomaly
from leaderboard.rating.anomalies.screening import (
    HORIZON_DAYS,
    PERIOD_DAYS,
    Findings,
    FoundRing,
    Group,
    joins_from,
    recent_concentration,
    screen_voters,
)
from leaderboard.rating.bradley_terry import Flags, Indices
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.snapshot_facts import FitLine
from leaderboard.rating.snapshot_fit import fit_snapshot

logger = logging.getLogger(__name__)

MAX_MODELS_IN_EFFECT = 10
# Teams are looked at once a day.
LOOKS_BACK = timedelta(days=2)
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Effects:
    """Effects of votes on the board with these counts, which is fitted once.

    Each is a list of the models whose scores change most: [{"model", "score": [with, without], "rank": [with,
    without]}].
    """

    counts: Counts

    @cached_property
    def _lines(self) -> list[FitLine]:
        return _fit(self.counts)

    def of_counted(self, own: Counts) -> list[JsonObject]:
        return self._moved(self._lines, _fit(self.counts.minus(own)))

    def of_held(self, own: Counts) -> list[JsonObject]:
        return self._moved(_fit(self.counts.plus(own)), self._lines)

    def _moved(self, with_votes: list[FitLine], without_votes: list[FitLine]) -> list[JsonObject]:
        moved: list[JsonObject] = [
            {"model": name, "score": [before["score"], after["score"]], "rank": [before["rank"], after["rank"]]}
            for name, before, after in zip(self.counts.names, with_votes, without_votes, strict=True)
            if before["score"] != after["score"]
        ]
        moved.sort(key=lambda line: -abs((line["score"][0] or np.inf) - (line["score"][1] or 0)))
        return moved[:MAX_MODELS_IN_EFFECT]


def _fit(counts: Counts) -> list[FitLine]:
    return fit_snapshot(counts, method.parameters()).lines


def find_anomalies(team: int | None = None) -> int:
    """Test voters of Overall and groups; return the number of new reviews.

    Votes of dismissed reviews are not tested again. The computation does not hold the lock of the tallies.
    """
    board = read_board(Board(OVERALL, team).scope)
    if not board.models:
        return 0
    read = read_overall_votes(board)
    if _extend_group_reviews(board, read):
        return find_anomalies(team)
    effects = Effects(board.counts)
    _update_open_reviews(board, effects)
    opened = sum(map(reviews.open_review, list(_suspects(board, read, effects))))
    # The votes as read decide: without those now held, their voters concentrate less.
    _extend_group_reviews(board, read)
    return opened


def find_anomalies_of_teams() -> int:
    """Return the number of new reviews."""
    since = database_now() - LOOKS_BACK
    voted = Vote.objects.filter(team__isnull=False, created_at__gte=since).values("team")
    opened = 0
    for team in Team.objects.active().filter(pk__in=voted).order_by("pk").values_list("pk", flat=True):
        try:
            opened += find_anomalies(team)
        except Exception:
            logger.exception("votes of a team cannot be tested")
    return opened


def _extend_group_reviews(board: BoardVotes, read: OverallVotes) -> bool:
    """Hold votes of groups' members who had none with the model, and of joining voters; return whether any exist."""
    index_by_id = {model.pk: index for index, model in enumerate(board.models)}
    votes, last_day, extended = read.dated.votes, int(read.dated.day.max(initial=0)), False
    focus = recent_concentration(read.dated, models=len(board.models))
    team = Board.parse(board.scope).team
    of_place = AnomalyReview.objects.in_place(team)
    of_groups = of_place.holding_new_votes().with_known_members().exclude(group="")
    for review in of_groups.exclude(first_day=None):
        model = index_by_id.get(review.model_id or 0, -1)
        with_model = np.column_stack([votes.left, votes.right]) == model
        own = with_model.any(axis=1) & _is_member(read, review)
        if review.first_day and (review.first_day - EPOCH).days >= last_day - HORIZON_DAYS:
            own |= (with_model & (focus >= joins_from(Group(review.group)))).any(axis=1)
        own &= ~read.dated.accepted_of_group
        own &= ~np.isin(read.order, np.array(review.orders, dtype=np.int64))  # counted again by a moderator
        if own.any():
            extended |= reviews.extend(review, read.order[own].tolist())
    return extended


def _is_member(read: OverallVotes, review: AnomalyReview) -> Flags:
    """Return which votes are by members of the review's group."""
    if review.group == Group.FOCUSED:
        return np.zeros(len(read.order), dtype=bool)
    start = (review.first_day - EPOCH).days if review.first_day else 0
    return _has_member_key(read, review) & read.dated.came_in(start, PERIOD_DAYS[Group(review.group)])


def _has_member_key(read: OverallVotes, review: AnomalyReview) -> Flags:
    match review.group:
        case Group.NETWORK:
            rows = VoteNetwork.objects.filter(network=review.member_key).values_list("vote__order", flat=True)
            return np.isin(read.order, [order for order in rows if order])
        case Group.INVITATION:
            of_inviter: Flags = read.dated.inviter == int(review.member_key)
            return of_inviter
        case _:
            return np.ones(len(read.order), dtype=bool)


def _suspects(board: BoardVotes, read: OverallVotes, effects: Effects) -> Iterator[reviews.Suspect]:
    """Yield voters, strongest evidence first, then groups."""
    findings = screen_voters(read.dated, models=len(board.models), kappa=method.VIRTUAL_TIES)
    crossed = np.flatnonzero(findings.verdicts.crossed)
    for index in crossed[np.argsort(-findings.verdicts.log_e[crossed], kind="stable")]:
        yield _suspect_voter(board, read, findings, int(index), effects)
    for ring in findings.rings:
        yield _suspect_group(board, read, ring, effects)


def _suspect_voter(
    board: BoardVotes, read: OverallVotes, findings: Findings, index: int, effects: Effects
) -> reviews.Suspect:
    verdicts, team = findings.verdicts, Board.parse(board.scope).team
    own = (read.dated.votes.voter == findings.voter[index]) & ~read.dated.accepted
    kind, model = KINDS[verdicts.kind[index]], int(verdicts.model[index])
    return reviews.Suspect(
        last_order=int(read.order[own].max()),
        log_e=float(verdicts.log_e[index]),
        crossed=int(verdicts.crossed[index]),
        evidence={
            "kind": kind,
            "model": board.counts.names[model] if model >= 0 else None,
            "tilt": float(verdicts.tilt[index]),
            **_observed_and_expected(read, findings, own, kind, model),
        },
        effect=effects.of_counted(_counts(board, read, np.flatnonzero(own))),
        team=team,
    )


def _suspect_group(board: BoardVotes, read: OverallVotes, found_ring: FoundRing, effects: Effects) -> reviews.Suspect:
    ring, votes = found_ring.ring, read.dated.votes
    orders = read.order[ring.votes]
    return reviews.Suspect(
        last_order=int(orders.max()),
        log_e=ring.log_e,
        crossed=ring.crossed,
        evidence={
            "kind": Anomaly.MODEL,
            "model": board.counts.names[ring.model],
            "tilt": ring.tilt,
            "votes": len(orders),
            "voters": len(np.unique(votes.voter[ring.votes])),
            "observed": ring.observed,
            "expected": ring.expected,
        },
        effect=effects.of_counted(_counts(board, read, ring.votes)),
        of_group=reviews.SuspectGroup(
            group=found_ring.group,
            first_day=EPOCH + timedelta(days=found_ring.first_day),
            member_key=_member_key(read, found_ring),
            model_id=board.models[ring.model].pk,
            orders=orders.tolist(),
        ),
        team=Board.parse(board.scope).team,
    )


def _member_key(read: OverallVotes, found_ring: FoundRing) -> str:
    vote = int(found_ring.ring.votes[0])
    match found_ring.group:
        case Group.NETWORK:
            network = VoteNetwork.objects.filter(vote__order=int(read.order[vote])).first()
            return network.network if network else ""
        case Group.INVITATION:
            return str(read.dated.inviter[vote])
        case _:
            return ""


def _counts(board: BoardVotes, read: OverallVotes, own: Indices) -> Counts:
    votes, ones = read.dated.votes, np.ones(len(own), dtype=np.int64)
    return count_votes(board.counts.names, votes.left[own], votes.right[own], read.outcome[own], ones)


def _observed_and_expected(
    read: OverallVotes, findings: Findings, own: Flags, kind: Anomaly, model: int
) -> dict[str, float]:
    """Return {"votes", "observed", "expected"}: counts of the outcome that the bet was on."""
    own = own & np.isfinite(findings.average.logit)
    if kind is Anomaly.MODEL:
        own &= (read.dated.votes.left == model) | (read.dated.votes.right == model)
    votes, probabilities = read.dated.votes.subset(own), findings.average.subset(own).probabilities()
    left, right, tie = probabilities[:, [LEFT, RIGHT, TIE]].T
    match kind:
        case Anomaly.MODEL:
            is_left = votes.left == model
        case Anomaly.FAVOURITE:
            is_left = left >= right
        case _:
            return {"votes": len(votes), "observed": int((votes.outcome == TIE).sum()), "expected": float(tie.sum())}
    won = np.where(is_left, votes.outcome == LEFT, votes.outcome == RIGHT) + (votes.outcome == TIE) / 2
    expected = np.where(is_left, left, right) + tie / 2
    return {"votes": len(won), "observed": float(won.sum()), "expected": float(expected.sum())}


def _update_open_reviews(board: BoardVotes, effects: Effects) -> None:
    index_by_name = {name: index for index, name in enumerate(board.counts.names)}
    team = Board.parse(board.scope).team
    for review in AnomalyReview.objects.in_place(team).filter(state=AnomalyReview.State.OPEN):
        on_overall = review.votes.on_overall() if team is None else review.votes.on_overall_of_team(team)
        votes = on_overall.filter(
            model_left__slug__in=index_by_name,
            model_right__slug__in=index_by_name,
            order__lte=board.last_order,
            excluded_reason="" if review.over_cap else review.reason_of_votes,
        )
        rows = votes.values_list("model_left__slug", "model_right__slug", "choice")
        indices = [(index_by_name[left], index_by_name[right], OUTCOMES.index(choice)) for left, right, choice in rows]
        table = np.array(indices, dtype=np.int64).reshape(-1, 3)
        left, right, outcome = table.T
        own = count_votes(board.counts.names, left, right, outcome, np.ones(len(table), dtype=np.int64))
        review.effect = effects.of_counted(own) if review.over_cap else effects.of_held(own)
        review.save(update_fields=["effect"])
