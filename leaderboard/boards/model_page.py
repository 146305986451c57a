from typing import cast

from accounts.models import Team
from common.db.reading import read_cursor
from common.text.money import plain_decimal
from leaderboard.boards.live_figures import figures_beside
from leaderboard.boards.queries import board_order, newest_runs
from leaderboard.boards.standings import StandingRow, standing_payload
from leaderboard.boards.titles import board_titles
from leaderboard.counting.board_keys import ARE_OF_PLACE, Board
from leaderboard.counting.pairs import meetings_by_opponent
from leaderboard.counting.revealed_calls import IS_OF_TEAM, RevealCutoff, calls_of_model_sql
from leaderboard.errors import NoSuchModel
from leaderboard.models import OVERALL, AggregationRun, Standing
from leaderboard.models.listed import is_hidden
from leaderboard.payload_types import (
    CallsPayload,
    ModelOnBoardPayload,
    ModelStandingsPayload,
    OpponentPayload,
    TagPayload,
)
from leaderboard.rating.differences import observed_share
from models_registry.models import LanguageModel, LanguageModelQuerySet
from models_registry.payloads import model_cards, model_summary, prices_in_force
from models_registry.spending import COST_QUANTUM

# Tags are words from a short list, given to a side after a vote. Uses the indexes tagged_votes_left and _right.
_TAGS = f"""
SELECT tag, count(*) FROM (
    SELECT jsonb_array_elements_text(tags -> 'left') AS tag FROM battles_vote
    WHERE model_left_id = %(model)s AND NOT tags = '{{}}' AND jsonb_typeof(tags -> 'left') = 'array'
    AND excluded_reason = '' AND series = '' AND {ARE_OF_PLACE}
    UNION ALL
    SELECT jsonb_array_elements_text(tags -> 'right') FROM battles_vote
    WHERE model_right_id = %(model)s AND NOT tags = '{{}}' AND jsonb_typeof(tags -> 'right') = 'array'
    AND excluded_reason = '' AND series = '' AND {ARE_OF_PLACE}
) AS given GROUP BY tag ORDER BY 2 DESC, 1
"""  # noqa: S608 (constants)


def get_public_model(slug: str, team: Team | None = None) -> LanguageModel:
    """Return a model of the site's or the team's boards. Raises NoSuchModel, also for a draft."""
    model = _public_models(team).named([slug]).first()
    if model is None:
        raise NoSuchModel
    return model


def _public_models(team: Team | None) -> LanguageModelQuerySet:
    if team is None:
        return LanguageModel.objects.public()
    return LanguageModel.objects.on_boards_of(team.pk).public().select_related("team", "provider")


def read_model_page(slug: str, team: Team | None = None) -> ModelStandingsPayload:
    """Return a model's standings on every board. Raises NoSuchModel."""
    model = get_public_model(slug, team)
    standings = model_standings(model, team)
    overall_votes = next((line["votes"] for line in standings if line["board"] == OVERALL), 0)
    if team is None:
        live = figures_beside(AggregationRun.objects.snapshots(OVERALL).first())
        elo, live_votes = live.elo(OVERALL, model.pk), overall_votes + live.new_votes(OVERALL, model.pk)
    else:
        elo, live_votes = next((line["elo"] for line in standings if line["board"] == OVERALL), None), overall_votes
    return {
        "model": model_summary(model),
        "about": model_cards([model])[0],
        "retired_at": model.retired_at,
        "elo": elo,
        "live_votes": live_votes,
        "standings": standings,
        "opponents": model_opponents(model, team),
        "calls": recent_calls(model.pk, None if team is None else team.pk),
        "tags": _tags(model, team),
        "versions": [
            {"slug": version.full_slug, "name": version.name, "version": version.version, "status": version.status}
            for version in _public_models(team).filter(family=model.family, team=model.team_id).order_by("version")
        ],
    }


def model_standings(model: LanguageModel, team: Team | None = None) -> list[ModelOnBoardPayload]:
    """Return lines of the newest snapshots, in the boards' order."""
    newest = newest_runs(team).listed().values("pk")
    standings = list(Standing.objects.filter(run__in=newest, model=model, votes__gt=0).select_related("run"))
    boards = [(standing, Board.parse(standing.run.scope).name) for standing in standings]
    titles = board_titles((name for _, name in boards), None if team is None else team.pk)
    summary = model_summary(model)
    lines: list[ModelOnBoardPayload] = [
        {
            "board": name,
            "title": titles[name],
            "snapshot": standing.run.public_id,
            "computed_at": standing.run.finished_at,
            **standing_payload(StandingRow(standing, summary)),
        }
        for standing, name in boards
        if not is_hidden(standing.run.scope)
    ]
    return sorted(lines, key=lambda line: (*board_order(line["board"]), line["title"]))


def model_opponents(model: LanguageModel, team: Team | None = None) -> list[OpponentPayload]:
    """Return results on Overall with Wilson intervals; the surest wins first."""
    meetings = meetings_by_opponent(Board.of(OVERALL, team).scope, model.pk)
    models = _public_models(team).in_bulk([pair.b for pair in meetings])
    prices = prices_in_force(models)
    lines: list[OpponentPayload] = []
    for pair in meetings:
        if pair.b not in models:
            continue
        share = observed_share(pair.share_a * pair.votes, pair.votes)
        lines.append(
            {
                "model": model_summary(models[pair.b], prices=prices),
                "votes": pair.votes,
                "wins": pair.wins_a,
                "losses": pair.wins_b,
                "ties": pair.ties,
                "both_bad": pair.both_bad,
                "share": share.share,
                "ci_low": share.low,
                "ci_high": share.high,
            }
        )
    return sorted(lines, key=lambda line: line["ci_low"] + line["ci_high"], reverse=True)


def _tags(model: LanguageModel, team: Team | None) -> list[TagPayload]:
    with read_cursor() as cursor:
        cursor.execute(_TAGS, {"model": model.pk, "team": None if team is None else team.pk})
        return [{"tag": tag, "votes": votes} for tag, votes in cursor.fetchall()]


MAX_CALLS = 1000

_SUMMARY = """
SELECT
    count(*) AS calls,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'done') AS first_token_p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY first_token_ms) FILTER (WHERE state = 'done') AS first_token_p95_ms,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) FILTER (WHERE state = 'done') AS total_p50_ms,
    percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) FILTER (WHERE state = 'done') AS total_p95_ms,
    avg(completion_tokens) FILTER (WHERE state = 'done') AS mean_tokens,
    avg(cost) FILTER (WHERE state = 'done') AS mean_cost,
    count(*) FILTER (WHERE finish_reason = 'content_filter' OR error = 'filtered') AS refused,
    count(*) FILTER (WHERE finish_reason = 'length') AS cut_short,
    count(*) FILTER (WHERE state = 'failed') AS failed
FROM (
    SELECT call.* FROM {calls} AND call.state IN ('done', 'stopped', 'failed')
    ORDER BY call.started_at DESC LIMIT %(limit)s
) AS recent
"""
_SUMMARY_ON_SITE = _SUMMARY.format(calls=calls_of_model_sql("%(model)s"))
_SUMMARY_IN_TEAM = _SUMMARY.format(calls=calls_of_model_sql("%(model)s", IS_OF_TEAM))


def recent_calls(model_id: int, team: int | None = None) -> CallsPayload | None:
    """Return figures of the last MAX_CALLS revealed calls (milliseconds, US dollars), or None without calls."""
    with read_cursor() as cursor:
        cutoff = RevealCutoff.of_newest_snapshot(team)
        summary = _SUMMARY_ON_SITE if team is None else _SUMMARY_IN_TEAM
        cursor.execute(summary, {"model": model_id, "team": team, "limit": MAX_CALLS, **cutoff._asdict()})
        names = [column.name for column in cursor.description or []]
        figures = dict(zip(names, cursor.fetchone(), strict=True))
    if not figures["calls"]:
        return None
    for name in ("first_token_p50_ms", "first_token_p95_ms", "total_p50_ms", "total_p95_ms", "mean_tokens"):
        figures[name] = None if figures[name] is None else round(figures[name])
    if figures["mean_cost"] is not None:
        figures["mean_cost"] = plain_decimal(figures["mean_cost"].quantize(COST_QUANTUM))
    return cast(CallsPayload, figures)
