from collections import defaultdict
from datetime import date, timedelta
from itertools import groupby
from typing import TypedDict

from django.utils import timezone

from common.db.reading import read_cursor
from leaderboard.counting.board_keys import ARE_OF_PLACE
from leaderboard.counting.contestants import contestant_name, marked_name, name_sql
from leaderboard.rating.mean_stars import mean_of_sums

WINDOW = timedelta(weeks=26)
# An answer's last rating is in the window if any of its ratings is.
_SUMS = f"""
SELECT {name_sql("model")} AS contestant, model.name,
    date_trunc('week', latest.created_at AT TIME ZONE 'UTC')::date AS week,
    sum(latest.stars), count(*)
FROM (
    SELECT DISTINCT ON (answer_id) answer_id, stars, voter, created_at
    FROM battles_starrating WHERE created_at >= %(since)s AND {ARE_OF_PLACE} ORDER BY answer_id, "order" DESC
) AS latest
JOIN battles_answer AS answer ON answer.id = latest.answer_id JOIN battles_side AS side ON side.id = answer.side_id
JOIN models_registry_languagemodel AS model ON model.id = side.model_id
WHERE {name_sql("model")} = ANY(%(contestants)s)
GROUP BY contestant, model.name, week, latest.voter ORDER BY contestant, week
"""  # noqa: S608 (constants)


class WeekOfStars(TypedDict):
    """Mean stars of a week, with a 95 % interval if at least two people gave stars."""

    week: date
    mean: float
    low: float | None
    high: float | None
    answers: int


class StarSeries(TypedDict):
    id: str
    name: str
    points: list[WeekOfStars]


def read_weekly_stars(slugs: list[str], team: int | None = None) -> list[StarSeries]:
    """Return mean stars by model and week (UTC, from Monday), oldest first; models without stars are left out.

    One query. A rating counts in the week in which it was given, and only an answer's latest.
    """
    ids, today = {contestant_name(slug): slug for slug in slugs}, timezone.now()
    since = (today - WINDOW - timedelta(days=today.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)
    with read_cursor() as cursor:
        cursor.execute(_SUMS, {"since": since, "contestants": list(ids), "team": team})
        rows = cursor.fetchall()
    points: dict[tuple[str, str], list[WeekOfStars]] = defaultdict(list)
    for (contestant, name, week), voters in groupby(rows, key=lambda row: row[:3]):
        mean = mean_of_sums([(total, answers) for *_, total, answers in voters])
        point: WeekOfStars = {"week": week, **mean._asdict()}  # type: ignore[typeddict-item]
        slug = ids[contestant]
        points[slug, marked_name(name, slug)].append(point)
    series: list[StarSeries] = [{"id": slug, "name": name, "points": weeks} for (slug, name), weeks in points.items()]
    return sorted(series, key=lambda line: slugs.index(line["id"]))
