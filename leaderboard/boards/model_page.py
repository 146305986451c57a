"""One model on every board: where it stands, whom it met, and how its calls went."""

from django.db import connection

from leaderboard.boards.queries import kind_order
from leaderboard.boards.recent_calls import recent_calls
from leaderboard.boards.standings import Stood, result_line
from leaderboard.boards.titles import titles_of
from leaderboard.counting.pairs import meetings_by_opponent
from leaderboard.errors import NoSuchModel
from leaderboard.models import OVERALL, AggregationRun, EloRating, Standing
from leaderboard.payload_types import ModelOnBoardPayload, ModelStandingsPayload, OpponentPayload, TagPayload
from leaderboard.rating.differences import observed_share
from models_registry.models import LanguageModel
from models_registry.payloads import model_summary, prices_in_force

# A tag is one of few words, given per side after a vote. Along the indexes tagged_votes_left and tagged_votes_right.
_TAGS = """
SELECT tag, count(*) FROM (
    SELECT jsonb_array_elements_text(tags -> 'left') AS tag FROM battles_vote
    WHERE model_left_id = %(model)s AND NOT tags = '{}' AND jsonb_typeof(tags -> 'left') = 'array'
    AND excluded_reason = ''
    UNION ALL
    SELECT jsonb_array_elements_text(tags -> 'right') FROM battles_vote
    WHERE model_right_id = %(model)s AND NOT tags = '{}' AND jsonb_typeof(tags -> 'right') = 'array'
    AND excluded_reason = ''
) AS given GROUP BY tag ORDER BY 2 DESC, 1
"""


def public_model(slug: str) -> LanguageModel:
    """Raises NoSuchModel, also for a draft."""
    model = LanguageModel.objects.public().filter(slug=slug).first()
    if model is None:
        raise NoSuchModel
    return model


def read_model_page(slug: str) -> ModelStandingsPayload:
    """The API's object of a model on the board. Raises NoSuchModel."""
    model = public_model(slug)
    return {
        "model": model_summary(model),
        "retired_at": model.retired_at,
        "elo": EloRating.objects.filter(pk=model.pk).values_list("rating", flat=True).first(),
        "standings": standings_of(model),
        "opponents": opponents_of(model),
        "calls": recent_calls(model.pk),
        "tags": _tags(model),
        "versions": list(
            LanguageModel.objects.public()
            .filter(family=model.family)
            .order_by("version")
            .values("slug", "name", "version", "status")
        ),
    }


def standings_of(model: LanguageModel) -> list[ModelOnBoardPayload]:
    """On the newest snapshot of every board it is on, in the order in which boards are listed."""
    newest = AggregationRun.objects.newest_of_each_board().values("pk")
    standings = list(Standing.objects.filter(run__in=newest, model=model, votes__gt=0).select_related("run"))
    said, titles = model_summary(model), titles_of(standing.run.scope for standing in standings)
    lines: list[ModelOnBoardPayload] = [
        {
            "board": standing.run.scope,
            "title": titles[standing.run.scope],
            "snapshot": standing.run.public_id,
            "computed_at": standing.run.finished_at,
            **result_line(Stood(standing, said)),
        }
        for standing in standings
    ]
    return sorted(lines, key=lambda line: (kind_order(line["board"]), line["title"]))


def opponents_of(model: LanguageModel) -> list[OpponentPayload]:
    """Whom it met on Overall and what it took from them, with Wilson's interval; the surest wins first."""
    met = meetings_by_opponent(OVERALL, model.pk)
    models = LanguageModel.objects.exclude(status=LanguageModel.Status.DRAFT).in_bulk([pair.b for pair in met])
    prices = prices_in_force(models)
    lines: list[OpponentPayload] = []
    for pair in met:
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


def _tags(model: LanguageModel) -> list[TagPayload]:
    with connection.cursor() as cursor:
        cursor.execute(_TAGS, {"model": model.pk})
        return [{"tag": tag, "votes": votes} for tag, votes in cursor.fetchall()]
