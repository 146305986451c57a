from decimal import Decimal

from leaderboard.boards import cells
from leaderboard.boards.history import read_history
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.boards.standings import model_label
from leaderboard.boards.weekly_stars import read_weekly_stars
from leaderboard.counting.pairs import meetings, meetings_table
from leaderboard.models import COMPARE, Contestant
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.payload_types import ResultPayload
from models_registry.models import LanguageModel

# Charts show the highest scores of the query; more lines would be hard to tell apart.
MAX_MODELS = 30
MAX_MODELS_IN_MATRIX = 20
MAX_MODELS_OVER_TIME = 8


def read_charts(query: BoardQuery) -> dict[str, object]:
    """Return the board and its charts' numbers; four queries more than the board. Raises NoSuchBoard."""
    board = read_board(query)
    lines = [line for line in board["results"] if line["score"] is not None and not line["group"]]
    lines = sorted(lines, key=lambda line: line["score"] or 0.0, reverse=True)
    shown = lines[:MAX_MODELS]
    return {
        "board": board,
        "models": len(lines),
        "shown": len(shown),
        "has_preliminary": any(line["preliminary"] for line in shown),
        "intervals": [
            {
                **_chart_point(line, "score", "ci_low", "ci_high", "preliminary"),
                "rank": cells.rank_text(line),
                "range": cells.rank_range(line),
            }
            for line in shown
        ],
        "matrix": _matrix(query, shown[:MAX_MODELS_IN_MATRIX]),
        "history": _history(query, shown[:MAX_MODELS_OVER_TIME]),
        "stars": read_weekly_stars([line["model"]["id"] for line in shown[:MAX_MODELS_OVER_TIME]], query.team_id)
        if query.board == COMPARE
        else [],
        "prices": _prices(lines),
        "first_tokens": [
            _chart_point(line, "median_first_token_ms", "score")
            for line in sorted(shown, key=lambda line: line["median_first_token_ms"] or 0)
            if line["median_first_token_ms"] is not None
        ],
    }


def _chart_point(line: ResultPayload, *names: str) -> dict[str, object]:
    return {"id": line["model"]["id"], "name": model_label(line["model"]), **{name: line.get(name) for name in names}}


def _matrix(query: BoardQuery, lines: list[ResultPayload]) -> dict[str, object]:
    """Return rows; rows[i]["cells"][j] is model i's share of its votes with model j, None if there are none."""
    keys = _primary_keys(query, [line["model"]["id"] for line in lines])
    table = meetings_table(meetings(query.scope, among=keys.values()))
    rows = []
    for line in lines:
        slug = line["model"]["id"]
        opponents = table[keys[slug]]
        others = [other["model"]["id"] for other in lines]
        cells = [
            {"id": other, "share": pair.share_a, "votes": pair.votes} if (pair := opponents.get(keys[other])) else None
            for other in others
        ]
        rows.append({"id": slug, "name": model_label(line["model"]), "cells": cells})
    return {"rows": rows}


def _primary_keys(query: BoardQuery, ids: list[str]) -> dict[str, int]:
    if query.board.startswith(IMPORTED):
        contestants = Contestant.objects.filter(board__slug=query.board.removeprefix(IMPORTED), name__in=ids)
        return dict(contestants.order_by().values_list("name", "pk"))
    models = LanguageModel.objects.on_boards_of(query.team_id).named(ids).order_by().select_related("team")
    return {model.full_slug: model.pk for model in models.only("pk", "slug", "team__slug")}


def _history(query: BoardQuery, lines: list[ResultPayload]) -> list[dict[str, object]]:
    if query.board.startswith(IMPORTED):
        return []
    names = {line["model"]["id"]: model_label(line["model"]) for line in lines}
    series = read_history(query.board, list(names), query.team)["series"]
    return [{"id": line["model"], "name": names[line["model"]], "points": line["points"]} for line in series]


def _prices(lines: list[ResultPayload]) -> list[dict[str, object]]:
    """Return scores by output price per million tokens, cheapest first.

    best_for_its_price marks the Pareto front: no model of at most that price has a higher score.
    """
    priced = [
        (Decimal(price), score, line)
        for line in lines
        if (price := line["model"]["price_output"]) is not None
        and Decimal(price) > 0
        and (score := line["score"]) is not None
    ]
    priced.sort(key=lambda point: (point[0], -point[1]))
    best, points = float("-inf"), []
    for _price, score, line in priced:
        is_best = score > best
        points.append(
            {**_chart_point(line, "score"), "price": line["model"]["price_output"], "best_for_its_price": is_best}
        )
        best = max(best, score)
    return points
