"""What the charts of a board draw, and their tables say."""

from decimal import Decimal

from leaderboard.boards.history import read_history
from leaderboard.boards.queries import BoardQuery, read_board
from leaderboard.counting.pairs import meetings, meetings_table
from leaderboard.models import Contestant
from leaderboard.models.imported import SCOPE as IMPORTED
from leaderboard.payload_types import ResultPayload
from models_registry.models import LanguageModel

# The highest scores of what was asked for: more lines than these nobody can tell apart.
MODELS = 30
MODELS_IN_MATRIX = 20
MODELS_OVER_TIME = 8


def read_charts(query: BoardQuery) -> dict[str, object]:
    """The board and the charts' numbers; as many queries as the board and three more. Raises NoSuchBoard."""
    board = read_board(query)
    lines = [line for line in board["results"] if line["score"] is not None and not line["group"]]
    lines = sorted(lines, key=lambda line: line["score"] or 0.0, reverse=True)
    shown = lines[:MODELS]
    return {
        "board": board,
        "models": len(lines),
        "shown": len(shown),
        "intervals": [_named(line, "score", "ci_low", "ci_high", "preliminary") for line in shown],
        "matrix": _matrix(query.board, shown[:MODELS_IN_MATRIX]),
        "history": _history(query, shown[:MODELS_OVER_TIME]),
        "prices": _prices(lines),
        "first_tokens": [
            _named(line, "median_first_token_ms", "score")
            for line in sorted(shown, key=lambda line: line["median_first_token_ms"] or 0)
            if line["median_first_token_ms"] is not None
        ],
    }


def _named(line: ResultPayload, *names: str) -> dict[str, object]:
    return {"id": line["model"]["id"], "name": line["model"]["name"], **{name: line.get(name) for name in names}}


def _matrix(board: str, lines: list[ResultPayload]) -> dict[str, object]:
    """rows[i]["cells"][j]: the share that model i took from model j and their votes; None where they did not meet."""
    keys = _keys(board, [line["model"]["id"] for line in lines])
    table = meetings_table(meetings(board, among=keys.values()))
    rows = []
    for line in lines:
        slug = line["model"]["id"]
        met = table[keys[slug]]
        others = [other["model"]["id"] for other in lines]
        cells = [
            {"id": other, "share": pair.share_a, "votes": pair.votes} if (pair := met.get(keys[other])) else None
            for other in others
        ]
        rows.append({"id": slug, "name": line["model"]["name"], "cells": cells})
    return {"rows": rows}


def _keys(board: str, ids: list[str]) -> dict[str, int]:
    """Primary keys of those who stand on the board, by their public ids."""
    if board.startswith(IMPORTED):
        contestants = Contestant.objects.filter(board__slug=board.removeprefix(IMPORTED), name__in=ids)
        return dict(contestants.order_by().values_list("name", "pk"))
    return dict(LanguageModel.objects.filter(slug__in=ids).order_by().values_list("slug", "pk"))


def _history(query: BoardQuery, lines: list[ResultPayload]) -> list[dict[str, object]]:
    if query.board.startswith(IMPORTED):
        return []
    names = {line["model"]["id"]: line["model"]["name"] for line in lines}
    series = read_history(query.board, list(names))["series"]
    return [{"id": one["model"], "name": names[one["model"]], "points": one["points"]} for one in series]


def _prices(lines: list[ResultPayload]) -> list[dict[str, object]]:
    """Score against the price of a million tokens of answer, cheapest first.

    On the Pareto line is whom no other beats on one of both without losing on the other.
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
        points.append({**_named(line, "score"), "price": line["model"]["price_output"], "best_for_its_price": is_best})
        best = max(best, score)
    return points
