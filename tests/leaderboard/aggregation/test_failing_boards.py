from pathlib import Path
from typing import Any

import pytest

from arena_site import health
from arena_site.operations.dashboard import read_dashboard
from leaderboard.aggregation import fit_boards
from leaderboard.aggregation import imported_boards as imported_publishing
from leaderboard.counting import method
from leaderboard.models import AggregationRun
from tests import make
from tests.leaderboard.public_data.imports import import_votes
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast, cast_many, contestants
from tests.worlds.vote_tables import SINGLE, table

pytestmark = pytest.mark.django_db
State = AggregationRun.State
STYLE = {
    "left": {"tokens": 90, "headings": 1, "bold": 0, "lists": 2},
    "right": {"tokens": 40, "headings": 0, "bold": 1, "lists": 0},
}


def make_fit_fail(monkeypatch: pytest.MonkeyPatch, module: Any, *, votes: int) -> None:
    """Patch the fit to raise for boards with this number of votes."""
    fit = module.fit_snapshot

    def fit_or_raise(counts: Any, *args: Any, **options: Any) -> Any:
        if counts.total == votes:
            raise FloatingPointError("no fit today")
        return fit(counts, *args, **options)

    monkeypatch.setattr(module, "fit_snapshot", fit_or_raise)


def test_ties_only_with_styles_are_published():
    pair = contestants("a", "b")
    for _ in range(31):
        cast(*pair, "both_bad", style=STYLE)
    run = aggregate()
    assert (run.state, run.votes_counted) == (State.DONE, 31)
    assert set(run.standings.values_list("style_score", flat=True)) == {1500}


@pytest.mark.slow
def test_failing_board_keeps_snapshot_and_others_are_published(monkeypatch, admin_client, admin_user):
    pair = contestants("a", "b")
    for number in range(12):
        cast(*pair, "left", categories=["coding"] if number < 4 else [], language="en")
    aggregate()
    before = AggregationRun.objects.snapshots("category:coding").get()
    with monkeypatch.context() as broken:
        make_fit_fail(broken, fit_boards, votes=5)
        cast(*pair, "right", categories=["coding"], language="en")
        overall = aggregate()
    assert (overall.state, overall.votes_counted) == (State.DONE, 13)
    assert AggregationRun.objects.snapshots("language:en").first().votes_counted == 13
    assert AggregationRun.objects.snapshots("category:coding").get() == before
    failed = AggregationRun.objects.get(state=State.FAILED)
    assert (failed.scope, failed.error) == ("category:coding", "FloatingPointError: no fit today")

    assert AggregationRun.objects.failed_boards() == ["category:coding"]
    [(sentence, url)] = [trouble for trouble in read_dashboard(admin_user).warnings if "board" in trouble[0]]
    assert sentence == "The last aggregation of board category:coding failed."
    assert "no fit today" in admin_client.get(url).content.decode()

    cast(*pair, "left", language="en")
    aggregate()
    assert AggregationRun.objects.failed_boards() == []
    assert AggregationRun.objects.snapshots("category:coding").first().votes_counted == 5


def test_board_with_unreadable_votes_does_not_stop_others():
    pair = contestants("a", "b")
    broken = {"left": {**STYLE["left"], "tokens": "many"}, "right": STYLE["right"]}
    for _ in range(6):
        cast(*pair, "left", style=STYLE, language="en")
    cast(*pair, "left", style=broken, language="fr")
    assert aggregate().state == State.FAILED
    states = dict(AggregationRun.objects.values_list("scope", "state"))
    assert states == {"overall": State.FAILED, "language:en": State.DONE, "language:fr": State.FAILED}
    assert "invalid input syntax" in AggregationRun.objects.get(scope="overall").error


def test_board_with_infinite_fact_does_not_stop_others(monkeypatch):
    pair = contestants("a", "b")
    cast_many(*pair, left=6)
    cast(*pair, "right", categories=["coding"], language="en")
    fit = fit_boards.fit_snapshot

    def with_infinity(counts: Any, *args: Any, **options: Any) -> Any:
        result = fit(counts, *args, **options)
        if counts.total == 1:  # of the category and the language
            result.facts["misfit"]["chi2"] = float("inf")
        return result

    monkeypatch.setattr(fit_boards, "fit_snapshot", with_infinity)
    assert aggregate().state == State.DONE
    assert AggregationRun.objects.failed_boards() == ["category:coding", "language:en"]
    assert "not JSON compliant" in AggregationRun.objects.get(scope="category:coding").error


def test_failing_overall_board_takes_its_votes(monkeypatch):
    pair = contestants("a", "b")
    cast_many(*pair, left=6)
    with monkeypatch.context() as broken:
        make_fit_fail(broken, fit_boards, votes=6)
        assert aggregate().state == State.FAILED
    assert AggregationRun.objects.failed_boards()[-1] == "overall"
    cast(*pair, "right")
    assert aggregate().votes_counted == 7


def test_failing_imported_board_does_not_stop_others(monkeypatch, tmp_path: Path):
    for name, votes in (("small", 40), ("large", 50)):
        lines = [("Ada", "Bob", "model_a")] * votes + [("Bob", "Ada", "model_a")] * 10
        import_votes(table(tmp_path / f"{name}.csv", SINGLE, *lines), "--title", name)
    monkeypatch.setattr(method, "LISTED_FROM_VOTES", 7)
    make_fit_fail(monkeypatch, imported_publishing, votes=60)
    assert aggregate().state == State.DONE
    assert AggregationRun.objects.failed_boards() == ["imported:large"]
    counted = [AggregationRun.objects.snapshots(f"imported:{name}").count() for name in ("small", "large")]
    assert counted == [2, 1]


def test_readiness_names_failed_boards(client, monkeypatch):
    make.model("ada"), make.model("bert")
    cast_many(*contestants("a", "b"), left=6)
    make_fit_fail(monkeypatch, fit_boards, votes=6)
    aggregate()
    monkeypatch.setattr(health.heartbeat, "missing", list)
    response = client.get("/readyz")
    assert (response.status_code, response.json()["failed_boards"]) == (200, ["language:und", "overall"])
