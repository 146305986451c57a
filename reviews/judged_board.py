"""The judge of voted battles beside Overall: never part of its scores (docs/adr/0091)."""

from typing import TypedDict

from benchmarks.live_judging.figures import Figure, LiveFigures, live_figures
from leaderboard.boards.standings import model_label
from leaderboard.payload_types import LeaderboardPayload
from reviews.second_opinions.queries import site_agreement


class JudgedSharePayload(TypedDict):
    """A share with its 95 % interval. n: battles, or pairs of people."""

    value: float
    low: float
    high: float
    n: int


class JudgedModelPayload(TypedDict):
    """score: the judge's, in points of the board; board_score: from people's votes."""

    model: str
    name: str
    score: float
    ci_low: float
    ci_high: float
    battles: int
    board_score: float


class JudgedBoardPayload(TypedDict):
    """Numbers are of voted battles that count on the board, without those of the judge's own family.

    `is_random`: the judge read a random part of all of them; `results` are empty otherwise. `outside`: had no chance to
    be drawn, or are not drawn yet. `agreement`: of the judge with the votes on the same battles; `people`: of two
    people with each other, null while unknown. `flips`: its two orders name different winners.
    """

    board: str
    judge: str
    number: int
    model: str
    share: float
    votes: int
    outside: int
    drawn: int
    judged: int
    waiting: int
    failed: int
    left_out: dict[str, int]
    is_random: bool
    agreement: JudgedSharePayload | None
    people: JudgedSharePayload | None
    flips: JudgedSharePayload | None
    results: list[JudgedModelPayload]


def judged_board(board: LeaderboardPayload) -> JudgedBoardPayload | None:
    """Return None without a judge that is on."""
    figures = live_figures()
    return None if figures is None else _payload(figures, board)


def _payload(figures: LiveFigures, board: LeaderboardPayload) -> JudgedBoardPayload:
    people = site_agreement()
    return {
        "board": board["board"],
        "judge": figures.judge.name,
        "number": figures.judge.number,
        "model": figures.judge.model.slug,
        "share": figures.share,
        "votes": figures.votes,
        "outside": figures.outside,
        "drawn": figures.drawn,
        "judged": figures.judged,
        "waiting": figures.waiting,
        "failed": figures.failed,
        "left_out": figures.left_out,
        "is_random": figures.is_random,
        "agreement": _interval(figures.agreement),
        "people": None if people is None else _interval(Figure(people.value, people.low, people.high, people.pairs)),
        "flips": _interval(figures.flips),
        "results": _results(figures, board),
    }


def _interval(figure: Figure | None) -> JudgedSharePayload | None:
    return None if figure is None else {"value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n}


def _results(figures: LiveFigures, board: LeaderboardPayload) -> list[JudgedModelPayload]:
    """Return the judge's scores, the best first, with the same mean as the board's scores of these models."""
    lines = [
        (line["model"], line["score"], figures.scores[line["model"]["id"]])
        for line in board["results"]
        if line["score"] is not None and line["group"] == 0 and line["model"]["id"] in figures.scores
    ]
    if not lines:
        return []
    shift = sum(score - judged.value for _, score, judged in lines) / len(lines)
    results: list[JudgedModelPayload] = [
        {
            "model": model["id"],
            "name": model_label(model),
            "score": shift + judged.value,
            "ci_low": shift + judged.low,
            "ci_high": shift + judged.high,
            "battles": judged.n,
            "board_score": score,
        }
        for model, score, judged in lines
    ]
    return sorted(results, key=lambda result: -result["score"])
