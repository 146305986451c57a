"""Calls that public figures may use.

Calls of a blind battle count from the first snapshot after its vote or its end as void.
"""

from collections import defaultdict
from datetime import UTC, datetime
from typing import NamedTuple, Self

from django.db import connection

from battles.calls import count_by_model
from leaderboard.counting.board_keys import Board
from leaderboard.models import OVERALL, AggregationRun

# Figures that counted a call earlier would reveal the models, by their values before and after the answers.
BEFORE_ALL = datetime(2000, 1, 1, tzinfo=UTC)

# Each call is joined with its battle and vote: a board of 300 models reads 30,000 calls in every run.
CALLS_PER_MODEL = 100


# Condition on rows `battle`. Without teams, the second part is not executed.
_IS_OF_SITE = """
(NOT EXISTS (SELECT FROM accounts_team) OR NOT EXISTS (
    SELECT FROM battles_session AS session WHERE session.id = battle.session_id AND session.team_id IS NOT NULL
))
"""


# The same of a team, in its last sessions.
IS_OF_TEAM = f"""
battle.session_id IN (
    SELECT id FROM battles_session WHERE team_id = %(team)s ORDER BY last_active_at DESC LIMIT {CALLS_PER_MODEL}
)
"""  # noqa: S608 (a constant)


def calls_of_model_sql(model: str, is_of_place: str = _IS_OF_SITE) -> str:
    """Return the FROM and WHERE of a query whose parameters are a RevealCutoff. model: SQL expression of the id."""
    return f"""
battles_call AS call
JOIN battles_answer AS answer ON answer.id = call.answer_id
JOIN battles_turn AS turn ON turn.id = answer.turn_id
JOIN battles_battle AS battle ON battle.id = turn.battle_id
LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
WHERE call.model_id = {model}
AND (battle.mode <> 'blind' OR vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s)
AND {is_of_place}
"""


_MEDIANS = f"""
SELECT model.id, percentile_cont(0.5) WITHIN GROUP (ORDER BY recent.first_token_ms)
FROM unnest(%(models)s::bigint[]) AS model (id) CROSS JOIN LATERAL (
    SELECT call.first_token_ms FROM {calls_of_model_sql("model.id")}
    AND call.state = 'done' AND call.first_token_ms IS NOT NULL
    ORDER BY call.started_at DESC LIMIT %(limit)s
) AS recent GROUP BY model.id
"""  # noqa: S608 (constants)


# Medians of teams, over the calls in each team's last sessions.
_MEDIANS_OF_TEAMS = """
SELECT recent.team_id, call.model_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY call.first_token_ms)
FROM unnest(%(teams)s::bigint[]) AS team (id) CROSS JOIN LATERAL (
    SELECT session.id, session.team_id FROM battles_session AS session
    WHERE session.team_id = team.id AND session.team_id IS NOT NULL ORDER BY session.last_active_at DESC LIMIT %(limit)s
) AS recent
JOIN battles_battle AS battle ON battle.session_id = recent.id
JOIN battles_turn AS turn ON turn.battle_id = battle.id
JOIN battles_answer AS answer ON answer.turn_id = turn.id
JOIN battles_call AS call ON call.answer_id = answer.id AND call.state = 'done' AND call.first_token_ms IS NOT NULL
LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
WHERE battle.mode <> 'blind' OR vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s
GROUP BY 1, 2
"""


# Calls of blind battles that the newest run reveals and the one before did not: of turns that ended in between,
# and of earlier turns whose vote came in between.
_NEWLY_REVEALED = """
SELECT model.slug, provider.name, coalesce(nullif(call.error, ''), call.state), call.first_token_ms, call.total_ms,
    call.cost
FROM (
    SELECT turn.id FROM battles_turn AS turn
    JOIN battles_battle AS battle ON battle.id = turn.battle_id AND battle.mode = 'blind'
    LEFT JOIN battles_vote AS vote ON vote.battle_id = battle.id
    WHERE turn.finished_at >= %(earlier_moment)s AND turn.finished_at < %(moment)s
    AND (vote."order" <= %(last_order)s OR battle.voided_at < %(moment)s)
    UNION
    SELECT turn.id FROM battles_vote AS vote
    JOIN battles_battle AS battle ON battle.id = vote.battle_id AND battle.mode = 'blind'
    JOIN battles_turn AS turn ON turn.battle_id = battle.id
    WHERE vote."order" > %(earlier_order)s AND vote."order" <= %(last_order)s AND turn.finished_at < %(moment)s
) AS turn
JOIN battles_answer AS answer ON answer.turn_id = turn.id
JOIN battles_call AS call ON call.answer_id = answer.id AND call.state IN ('done', 'stopped', 'failed')
JOIN models_registry_languagemodel AS model ON model.id = call.model_id AND model.team_id IS NULL
JOIN models_registry_provider AS provider ON provider.id = model.provider_id
"""


class RevealCutoff(NamedTuple):
    """Latest blind battles to count: number of the last vote, and time until which void ones count."""

    last_order: int = 0
    moment: datetime | None = None

    @classmethod
    def of_newest_snapshot(cls, team: int | None = None) -> Self:
        runs = AggregationRun.objects.snapshots(Board(OVERALL, team).scope, team)
        newest = runs.values_list("last_order", "started_at").first()
        return cls(*newest) if newest else cls()


def count_newly_revealed() -> None:
    """Count calls of blind battles for /metrics, once after each run of Overall."""
    runs = AggregationRun.objects.readings().values_list("last_order", "started_at")[:2]
    newest, earlier = [*runs, (0, BEFORE_ALL)][:2]
    with connection.cursor() as cursor:
        cursor.execute(
            _NEWLY_REVEALED,
            {"last_order": newest[0], "moment": newest[1], "earlier_order": earlier[0], "earlier_moment": earlier[1]},
        )
        for slug, provider, outcome, first_token_ms, total_ms, cost in cursor.fetchall():
            count_by_model(slug, provider, outcome, first_token_ms=first_token_ms, total_ms=total_ms, cost=cost)


def median_first_token_ms_of_teams(teams: list[int], revealed: RevealCutoff) -> dict[int, dict[int, int]]:
    """Return {team id: {model id: median}}."""
    medians: dict[int, dict[int, int]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(_MEDIANS_OF_TEAMS, {"teams": teams, "limit": CALLS_PER_MODEL, **revealed._asdict()})
        for team, model, median in cursor.fetchall():
            medians[team][model] = round(median)
    return medians


def median_first_token_ms(model_ids: list[int], revealed: RevealCutoff) -> dict[int, int]:
    """Return {model id: median over its last CALLS_PER_MODEL finished calls} of models with calls."""
    with connection.cursor() as cursor:
        cursor.execute(_MEDIANS, {"models": model_ids, "limit": CALLS_PER_MODEL, **revealed._asdict()})
        return {model_id: round(median) for model_id, median in cursor.fetchall()}
