"""CPU time of one thread, which depends little on other load of the machine."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from common.allocator import keep_freed_arrays
from leaderboard.imports import tables
from leaderboard.imports.columns import TableColumns
from leaderboard.rating.anomalies.earlier_fits import Votes, sequential_forecast
from leaderboard.rating.anomalies.eprocess import VoterLog, judge
from leaderboard.rating.anomalies.expected_votes import expect
from leaderboard.rating.ballots import ballots_of_names
from leaderboard.rating.board_fit import fit_side_counts, fit_tally
from leaderboard.rating.bradley_terry import POINTS, Floats, Tally
from leaderboard.rating.clustering import VoterVotes
from leaderboard.rating.counts import Counts, count_votes
from leaderboard.rating.outcomes import OUTCOMES
from leaderboard.rating.ranks import rank_board
from leaderboard.rating.sampling import pair_gains
from leaderboard.rating.style.design_matrix import Ints
from leaderboard.rating.style_control import StyleFit, fit_style, scaling_of
from tests.worlds.ratings import simulations
from tests.worlds.ratings.simulations import Ballots
from tools.bench.ratings.peak_memory import measure
from tools.bench.ratings.report import Report

FIT_BARS_MS = {100: 5, 300: 40}  # by models
MILLION = 1_000_000


def speed(report: Report, seed: int) -> None:
    keep_freed_arrays()  # as each snapshot does
    rng = np.random.default_rng(seed)
    report.heading("Style control, 1,000,000 votes")
    for models in FIT_BARS_MS:
        _style(report, rng, models)
    _thousands_of_models(report, rng)
    _fits(report, rng)
    _votes_of_voters(report, rng)
    _names(report, rng)
    _tables(report, rng)


def _fits(report: Report, rng: np.random.Generator) -> None:
    report.heading("A fit from tallies with its intervals, without voters; the quicker half's median, in turn")
    for models, bar in FIT_BARS_MS.items():
        few, many = _tallies(rng, models, 100_000), _tallies(rng, models, 10 * MILLION)
        took_few, took_many = _in_turn([lambda few=few: fit_side_counts(few), lambda many=many: fit_side_counts(many)])
        report.row(f"{models} models, 100,000 votes", _ms(took_few), f"bar {bar} ms", held=took_few * 1000 <= bar)
        ratio = took_many / took_few
        report.row(f"{models} models, 10,000,000 votes, ratio", f"{ratio:.2f}", "bar 1.5", held=ratio <= 1.5)
        _beside_a_fit(report, models, many)


def _thousands_of_models(report: Report, rng: np.random.Generator) -> None:
    models = 3000
    report.heading(f"{models:,} models, 1,000,000 votes: scores, intervals, rank ranges, facts of a snapshot")
    counts = _counts_of(simulations.arena(rng, simulations.strengths(rng, models), MILLION), models)
    cells, n = counts.cells
    peak, seconds = measure("models", models=np.array(models), cells=cells, n=n)
    report.row("time", f"{seconds:.1f} s", "bar 10 s", held=seconds <= 10)
    report.row("largest size of a process of its own", f"{peak:.0f} MB", "bar 500 MB", held=peak <= 500)


def _names(report: Report, rng: np.random.Generator) -> None:
    report.heading("1,000,000 votes as lists of names, 100 models")
    models = 100
    ballots = simulations.arena_with_tastes(rng, simulations.strengths(rng, models), MILLION, voters=30_000)
    names = [f"organization/model-{index}" for index in range(models)]
    left, right = ([names[index] for index in side.tolist()] for side in (ballots.left, ballots.right))
    outcome = [OUTCOMES[index] for index in ballots.outcome.tolist()]

    def fit() -> object:
        return fit_side_counts(ballots_of_names(left, right, outcome).counts.n.astype(np.float64))

    counted, fitted = _in_turn([lambda: ballots_of_names(left, right, outcome), fit], rounds=5)
    report.row("names to counts", _ms(counted))
    report.row("names to scores with intervals", _ms(fitted))


def _tables(report: Report, rng: np.random.Generator) -> None:
    report.heading("A table of 200,000 votes, read by rows and by columns")
    winners, lines = list(tables.OUTCOMES), []
    for number, (left, step, winner, voter) in enumerate(rng.integers((300, 299, 4, 30_000), size=(200_000, 4))):
        names = f"model-{left},model-{(left + step + 1) % 300}"
        lines.append(f"{names},{winners[winner]},voter-{voter},{1_700_000_000 + number}.5")
    for columns in (["model_a", "model_b", "winner"], ["model_a", "model_b", "winner", "judge", "tstamp"]):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "votes.csv"
            rows = (",".join(line.split(",")[: len(columns)]) for line in lines)
            path.write_text("\n".join([",".join(columns), *rows]))
            readers = (tables.read_table, lambda path: TableColumns(path).batches())
            by_rows, by_columns = _in_turn([partial(_exhaust, read, path) for read in readers], rounds=5)
        ratio = by_rows / by_columns
        report.row(", ".join(columns), f"{_ms(by_rows)}, {_ms(by_columns)}")
        report.row("rows, times as long", f"{ratio:.1f}", "bar 10", held=ratio >= 10)


def _exhaust(read: Callable[[Path], Iterator[object]], path: Path) -> None:
    deque(read(path), maxlen=0)


def _beside_a_fit(report: Report, models: int, counts: Floats) -> None:
    tasks: list[Callable[[], object]] = [
        lambda: fit_side_counts(counts),
        lambda: fit_tally(Tally.from_side_counts(counts)),
    ]
    whole, plain = _in_turn(tasks, rounds=30_000 // models)
    ratio = round(whole / plain, 2)
    report.row(f"{models} models, with side bias by without", f"{ratio:.2f}", "bar 1.2", held=ratio <= 1.2)
    board, n = fit_side_counts(counts).board, counts.sum(axis=0)
    theta, votes = (board.score - 1500) / POINTS, n + n.T
    ranks, gains = _in_turn([lambda: rank_board(board), lambda: pair_gains(theta, votes)])
    report.row(f"{models} models, rank ranges", _ms(ranks))
    report.row(f"{models} models, gains of all pairs for active sampling", _ms(gains))


def _votes_of_voters(report: Report, rng: np.random.Generator) -> None:
    report.heading("1,000,000 votes of 30,000 voters on 300 models")
    theta = simulations.strengths(rng, 300)
    ballots = simulations.arena_with_tastes(rng, theta, MILLION, voters=30_000)
    order = np.argsort(ballots.voter, kind="stable")
    voter = np.unique(ballots.voter[order], return_inverse=True)[1]
    left, right, outcome = (getattr(ballots, name)[order] for name in ("left", "right", "outcome"))
    counts = _counts_by_side(ballots, 300)
    voters = VoterVotes(voter, left, right, outcome, np.ones(MILLION, dtype=np.int64))
    [clustered] = _in_turn([lambda: fit_side_counts(counts, voters=voters)], rounds=3)
    report.row("a fit that allows for voters' tastes", _ms(clustered), "bar 1000 ms", held=clustered <= 1)
    begun = time.process_time()
    cast = Votes(ballots.voter, ballots.left, ballots.right, ballots.outcome)
    expectation, _ = expect(cast, sequential_forecast(cast, models=300), models=300)
    judge(VoterLog(voter, left, right, outcome, expectation.probabilities()[order]), models=300)
    report.row("e-processes of all voters", f"{time.process_time() - begun:.1f} s")


def _style(report: Report, rng: np.random.Generator, models: int) -> None:
    _, ballots, features = simulations.styled_arena(
        rng, models=models, votes=MILLION, effects=np.array([0.25, -0.1, 0.05, 0.0])
    )
    left, right, share, scaling = ballots.left, ballots.right, ballots.share, scaling_of(features)
    voter = simulations.heavy_tailed_voters(rng, voters=30_000, votes=MILLION)

    def fit(by: Ints | None = voter) -> StyleFit:
        established = np.ones(models, dtype=bool)
        return fit_style(left, right, share, features, established=established, scaling=scaling, voter=by)

    clustered, alone = _in_turn([fit, lambda: fit(None)], rounds=5)
    arrays = {"left": left, "right": right, "share": share, "features": features, "voter": voter}
    peak, _ = measure("style", models=np.array(models), **arrays)
    report.row(f"{models} models, 30,000 voters", _ms(clustered), "bar 500 ms", held=clustered <= 0.5)
    report.row(f"{models} models, voters unknown", _ms(alone), "bar 500 ms", held=alone <= 0.5)
    report.row(
        f"{models} models, largest size of a process of its own", f"{peak:.0f} MB", "bar 400 MB", held=peak <= 400
    )


def _tallies(rng: np.random.Generator, models: int, votes: int) -> Floats:
    """Return counts[outcome, left, right] of about `votes` votes between random pairs."""
    theta = simulations.strengths(rng, models)
    n = rng.poisson(votes / (models * (models - 1)), (models, models))
    np.fill_diagonal(n, 0)
    p = 1 / (1 + np.exp(theta - theta[:, None]))
    tied = simulations.TIE_SHARE * 2 * np.minimum(p, 1 - p)
    drawn = rng.multinomial(n, np.stack([p - tied / 2, 1 - p - tied / 2, tied / 2, tied / 2], axis=-1))
    return np.moveaxis(drawn, -1, 0).astype(np.float64)


def _counts_of(ballots: Ballots, models: int) -> Counts:
    names, ones = [f"model-{index:04d}" for index in range(models)], np.ones(len(ballots.left), dtype=np.int64)
    return count_votes(names, ballots.left, ballots.right, ballots.outcome, ones)


def _counts_by_side(ballots: Ballots, models: int) -> Floats:
    cells = (ballots.outcome * models + ballots.left) * models + ballots.right
    return np.bincount(cells, minlength=4 * models**2).reshape(4, models, models).astype(np.float64)


def _in_turn(tasks: list[Callable[[], object]], rounds: int = 21) -> list[float]:
    """Run tasks in turn under equal load; return median seconds of each one's faster half."""
    seconds: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds):
        for times, task in zip(seconds, tasks, strict=True):
            begun = time.process_time()
            task()
            times.append(time.process_time() - begun)
    return [float(np.median(sorted(times)[: (rounds + 1) // 2])) for times in seconds]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
