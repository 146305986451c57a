"""Figures of decision reports from made-up inputs."""

from datetime import UTC, datetime

import msgspec
import pytest
from msgspec import structs

from benchmarks.statistics.headers import EntrantHeader, RunHeader
from benchmarks.statistics.payload import EntrantUsage, Interval, Mean, Metric, Pair, Rank, ReportPayload
from reviews.reports.document import (
    FORMAT,
    BoardInputs,
    BoardLine,
    DecidingVotes,
    Document,
    Inputs,
    Label,
    RunInputs,
    canonical,
    read,
)
from reviews.reports.figures import figures_of
from reviews.reports.naming import without_names

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NOTHING = Interval(None, None, None)


def line(key: str, score: float | None, tier: int | None = 1, **fields: object) -> BoardLine:
    facts = {
        "votes": 100, "group": 0, "preliminary": False, "low": None if score is None else score - 20,
        "high": None if score is None else score + 20, "rank": 1, "rank_best": 1, "rank_worst": 2,
        "first_token_ms": 300,
    }  # fmt: skip
    return BoardLine(key=key, score=score, tier=tier, **{**facts, **fields})


def board(*lines: BoardLine, **fields: object) -> BoardInputs:
    facts = {
        "snapshot": "s", "board": "overall", "title": "Overall", "team": "", "computed_at": NOW, "method": "m",
        "parameters_hash": "p", "tallies_checksum": "t", "votes_counted": 400, "votes_excluded": 0,
        "effective_voters": 50.0, "to_add": None, "to_drop": None,
    }  # fmt: skip
    return BoardInputs(lines=list(lines), **{**facts, **fields})


def mean(key: str, value: float, *, complete: bool = True) -> Mean:
    return Mean(
        entrant=key, mean=Interval(value, value - 0.1, value + 0.1), se=0.05, clusters=40, cases=40, planned=40,
        scored=40 if complete else 30, wrong=0, missing=0, unscored=0, coverage=1.0, is_complete=complete, lowest=0.0,
        highest=1.0, note="",
    )  # fmt: skip


def pair(first: str, second: str, difference: float, *, apart: bool | None, needed: int | None = None) -> Pair:
    return Pair(
        first=first, second=second, cases=40, clusters=40, difference=Interval(difference, -1.0, 1.0), se=0.1,
        joint=Interval(difference, difference - 0.3, difference + 0.3), is_separable=apart, p=0.5, exact_p=None,
        holm_p=None, between=None, within=None, noise="cases", cases_needed=needed, repeats_needed=None,
    )  # fmt: skip


def usage(key: str, cost: float) -> EntrantUsage:
    return EntrantUsage(
        entrant=key, cost=cost, lost_cost=0.5, lost_calls=1, reused=2, not_extracted=0,
        cost_per_item=Interval(cost, cost, cost), cost_per_point=NOTHING, prompt_tokens=1, completion_tokens=1,
        reasoning_tokens=0, first_token_p50=Interval(100.0, None, None), first_token_p95=NOTHING,
        total_p50=Interval(900.0, None, None), total_p95=NOTHING, is_on_front=key == "000",
        is_surely_dominated=key == "002",
    )  # fmt: skip


def run(*, baseline: str = "", cancelled: bool = False) -> RunInputs:
    keys = ("000", "001", "002", "003")
    pairs = [pair("000", "001", 0.1, apart=False, needed=300), pair("000", "002", 0.5, apart=True),
             pair("001", "002", 0.4, apart=True), pair("000", "003", 0.2, apart=None)]  # fmt: skip
    metric = Metric(
        metric="score", is_primary=True, is_binary=True,
        means=[mean("000", 0.8), mean("001", 0.7), mean("002", 0.3), mean("003", 0.9, complete=False)],
        pairs=pairs, bound=2.0, against_baseline=[pair("001", "000", -0.1, apart=False)] if baseline else [],
        baseline_bound=None,
    )  # fmt: skip
    payload = ReportPayload(
        method="m", digest="d", header=RunHeader(run="r", template="T", version_digest="v"), cases=40, clusters=40,
        entrants=[EntrantHeader(entrant=key, model=f"Model {key}", is_baseline=key == baseline) for key in keys],
        repeats=1, metrics=[metric],
        ranks=[Rank("000", 1, 2, True), Rank("001", 1, 2, True), Rank("002", 3, 3, False)], passes=[],
        usage=[usage(key, cost) for key, cost in zip(keys, (0.1, 0.2, 0.3, 0.4), strict=True)], tags=[],
        tags_left_out=0,
    )  # fmt: skip
    return RunInputs(
        run="r", name="Mine", template="T", version=1, number=1, is_cancelled=cancelled, computed_at=NOW,
        payload=payload,
    )  # fmt: skip


def document(subject: Inputs, names: dict[str, str]) -> Document:
    return Document(
        format=FORMAT, id="id", created_at=NOW, question="Q?", subject=subject, figures=figures_of(subject),
        labels={key: Label(name=name) for key, name in names.items()},
    )  # fmt: skip


def test_run_lists_ranked_entrants_first():
    figures = figures_of(run())
    assert [(one.key, one.is_best, one.better_than, one.note) for one in figures.lines] == [
        ("000", True, ["002"], ""), ("001", True, ["002"], ""), ("002", False, [], ""),
        ("003", False, [], "incomplete"),
    ]  # fmt: skip
    assert [(one.on_front, one.beaten_in_both, one.cost, one.total_ms) for one in figures.lines[::2]] == [
        (True, False, 0.1, 900.0), (False, True, 0.3, 900.0),
    ]  # fmt: skip
    assert [(one.other, one.is_apart, one.needed) for one in figures.differences] == [
        ("001", False, 300), ("002", True, None), ("003", None, None),
    ]  # fmt: skip
    assert figures.differences[0].low == pytest.approx(-0.2)


def test_run_with_baseline_is_compared_with_it():
    [one] = figures_of(run(baseline="001")).differences
    assert (one.reference, one.other, one.value) == ("001", "000", -0.1)


def test_run_warns_of_what_weakens_it():
    codes = [(caution.code, caution.key, caution.n) for caution in figures_of(run(cancelled=True)).cautions]
    assert codes == [
        ("cancelled", "", 0), ("reused", "", 8), ("lost", "", 0), ("incomplete", "003", 30),
    ]  # fmt: skip


def test_board_tells_apart_by_tiers_and_intervals():
    lines = [line("a", 1600.0), line("b", 1590.0), line("c", 1400.0, tier=2, rank_best=3, rank_worst=3)]
    figures = figures_of(board(*lines[::-1]))
    assert [(one.key, one.is_best, one.better_than) for one in figures.lines] == [
        ("a", True, ["c"]), ("b", True, ["c"]), ("c", False, []),
    ]  # fmt: skip
    close, far = figures.differences
    assert (close.other, close.is_apart, far.other, far.is_apart, far.needed) == ("b", False, "c", True, None)
    assert close.needed is not None
    assert close.needed > 400


def test_cheaper_and_better_model_beats_in_both():
    cheap, dear = line("a", 1600.0, price_input=1.0, price_output=2.0), line("b", 1400.0, tier=2, price_input=1.0)
    for written, is_beaten in ((3.0, True), (2.0, False), (1.0, False), (None, False)):
        figures = figures_of(board(cheap, structs.replace(dear, price_output=written)))
        assert [one.beaten_in_both for one in figures.lines] == [False, is_beaten]
    assert [one.on_front for one in figures_of(board(cheap, structs.replace(dear, price_output=1.0))).lines] == [
        True
    ] * 2


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"board": "side-by-side"}, "names_known"), ({"board": "auto"}, "chosen_pairs"),
        ({"board": "imported:x"}, "imported"), ({"effective_voters": 2.2}, "few_voters"),
        ({"votes_excluded": 3}, "excluded"),
    ],
)  # fmt: skip
def test_board_warns_of_what_weakens_it(fields: dict[str, object], code: str):
    lines = line("a", 1600.0), line("b", 1400.0, tier=2, rank_best=2)
    assert figures_of(board(*lines)).cautions == []
    assert [caution.code for caution in figures_of(board(*lines, **fields)).cautions] == [code]


def test_board_warns_of_groups_and_preliminary_models():
    lines = line("a", 1600.0), line("b", 1400.0, tier=None, rank_best=None, group=1, preliminary=True)
    assert {caution.code for caution in figures_of(board(*lines)).cautions} == {"separate_groups", "preliminary"}
    assert [caution.code for caution in figures_of(board(line("a", None))).cautions] == ["no_ranking"]


def test_canonical_text_is_the_same_after_reading():
    subject = board(line("a", 1600), line("b", 1e22), effective_voters=7)
    text = canonical(document(subject, {"a": "Ada", "b": "Bob"}))
    assert canonical(read(text)) == text
    assert '"effective_voters":7.0' in text


def test_numbers_only_keep_figures_and_no_name():
    names = {"000": "Ada", "001": "Bob", "002": "Cyd", "003": "Dee"}
    of_run = without_names(document(run(), names))
    text = canonical(of_run)
    assert [name for name in (*names.values(), "Mine", "Model 0") if name in text] == []
    assert [one.value for one in of_run.figures.lines] == [0.8, 0.7, 0.3, 0.9]
    assert [one.key for one in of_run.figures.lines] == ["001", "002", "003", "004"]
    subject = board(
        line("ada", 1600.0, price_input=1.0, price_output=1.0), line("bob", 1500.0),
        to_add=DecidingVotes(3, "bob"), to_drop=DecidingVotes(2, "bob"),
    )  # fmt: skip
    of_board = without_names(document(subject, {"ada": "Ada", "bob": "Bob", "cyd": "Cyd"}))
    assert [name for name in ("Ada", "ada", "Bob", "bob", "yd", 'price_input":1') if name in canonical(of_board)] == []
    assert of_board.subject.to_add == DecidingVotes(3, "002")
    assert figures_of(of_board.subject) == of_board.figures
    assert msgspec.to_builtins(of_board)["subject"]["kind"] == "board"
