"""A person's own board, and a team's taste: how their votes differ from everyone else's."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.actor import Actor
from accounts.models import Team
from leaderboard.boards.personal.records import (
    Record,
    VotedPair,
    counted_pairs_of_team,
    pairs_of_person,
    pairs_of_team,
    records_of,
)
from leaderboard.boards.queries import newest_run
from leaderboard.models import OVERALL, AggregationRun
from leaderboard.payload_types import OwnBoardPayload, OwnLinePayload
from models_registry.models import LanguageModel
from models_registry.payload_types import ModelPayload
from models_registry.payloads import model_summary, prices_in_force

if TYPE_CHECKING:
    from leaderboard.boards.personal.fits import OwnScore

MINE, TASTE = "mine", "taste"
MIN_OWN_VOTES = 5


def read_own_board(actor: Actor) -> OwnBoardPayload:
    """Return the person's votes on Overall; a fixed number of queries."""
    run = newest_run(OVERALL)
    own = pairs_of_person(actor, last_order=run.last_order if run else 0)
    scores: dict[int, OwnScore] = {}
    if run is not None and own.votes >= MIN_OWN_VOTES:
        from leaderboard.boards.personal.fits import fit_own  # imports scipy, which few requests need

        scores = fit_own(run, own.pairs, counted=own.counted)
    return _payload(MINE, _("My board"), run, own.pairs, scores, voters=None)


def read_team_taste(team: Team) -> OwnBoardPayload:
    """Return the votes of the newest snapshot of the team's Overall."""
    of_team = newest_run(OVERALL, team)
    run = newest_run(OVERALL)
    pairs = pairs_of_team(team.pk) if of_team else []
    scores: dict[int, OwnScore] = {}
    if run is not None and of_team is not None and sum(pair.n for pair in pairs) >= MIN_OWN_VOTES:
        from leaderboard.boards.personal.fits import fit_own

        scores = fit_own(
            run,
            pairs,
            counted=counted_pairs_of_team(team.pk, last_order=run.last_order),
            own_design_effects=dict(of_team.standings.values_list("model_id", "design_effect")),
        )
    voters = of_team.facts.get("voters") if of_team else None
    return _payload(TASTE, _("Taste"), run, pairs, scores, voters=voters)


def _payload(
    board: str,
    title: str,
    run: AggregationRun | None,
    pairs: Iterable[VotedPair],
    scores: "dict[int, OwnScore]",
    *,
    voters: int | None,
) -> OwnBoardPayload:
    records = records_of(pairs)
    models = _summaries(records)
    lines = [_line(models[model], record, scores.get(model)) for model, record in records.items() if model in models]
    votes = sum(record.votes for record in records.values()) // 2
    return {
        "board": board,
        "title": title,
        "snapshot": run.public_id if run else None,
        "computed_at": run.finished_at if run else None,
        "votes": votes,
        "votes_needed": max(0, MIN_OWN_VOTES - votes),
        "voters": voters,
        "taste_sd": _taste_sd(run) if scores and run else None,
        "results": sorted(lines, key=_place),
    }


def _taste_sd(run: AggregationRun) -> float:
    from leaderboard.boards.personal.fits import taste_sd

    return taste_sd(run)


def _summaries(records: Iterable[int]) -> dict[int, ModelPayload]:
    models = list(LanguageModel.of_every_owner.filter(pk__in=list(records)).select_related("team"))
    prices = prices_in_force(model.pk for model in models)
    return {model.pk: model_summary(model, prices=prices) for model in models}


def _place(line: OwnLinePayload) -> tuple[bool, float, int, str]:
    score = line["score"]
    return score is None, 0.0 if score is None else -score, -line["votes"], line["model"]["id"]


def _line(model: ModelPayload, record: Record, own: "OwnScore | None") -> OwnLinePayload:
    return {
        "model": model,
        "votes": record.votes,
        "wins": record.wins,
        "losses": record.losses,
        "ties": record.ties,
        "both_bad": record.both_bad,
        "score": own.score if own else None,
        "ci_low": own.low if own else None,
        "ci_high": own.high if own else None,
        "others_score": own.others if own else None,
        "difference": own.taste if own else None,
        "difference_low": own.taste_low if own else None,
        "difference_high": own.taste_high if own else None,
        "differs": (own.taste_low > 0 or own.taste_high < 0) if own else None,
    }
