import pytest

from leaderboard.boards.changes import read_changes
from leaderboard.counting import method
from leaderboard.errors import NoSuchSnapshot
from leaderboard.models import AggregationRun
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast_many, contestants

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs() -> list[AggregationRun]:
    ada, bob, cyd = contestants("ada", "bob", "cyd")
    cast_many(ada, bob, left=30, right=10)
    first = aggregate()
    cast_many(bob, ada, left=45, right=5)
    cast_many(cyd, ada, left=6, right=2)
    return [first, aggregate()]


def test_changes_name_models_that_moved_or_joined(runs):
    changes = read_changes(runs[1].public_id)
    assert (changes.before, changes.new_votes, changes.excluded) == (runs[0], 58, {})
    assert changes.method == ["bradley-terry-5 → bradley-terry-5-sides"]
    by_name = {change.name: change for change in changes.models}
    assert by_name.keys() == {"Ada", "Bob", "Cyd"}
    assert by_name["Ada"].change.startswith("−")
    assert (by_name["Ada"].new_votes, by_name["Bob"].new_votes) == ("+58", "+50")
    assert by_name["Bob"].change.startswith("+")
    assert (by_name["Cyd"].rank[:4], by_name["Cyd"].change, by_name["Cyd"].new_votes) == ("– → ", "", "+8")


def test_changes_of_the_first_snapshot_are_since_the_start(runs, client):
    assert read_changes(runs[0].public_id).before is None
    page = client.get(f"/leaderboard/snapshots/{runs[0].public_id}/changes/").content.decode()
    assert "the start" in page


@pytest.mark.slow
def test_changes_page_compares_chosen_snapshots(runs, client):
    page = client.get(f"/leaderboard/snapshots/{runs[0].public_id}/changes/", {"since": runs[1].public_id})
    assert (page.status_code, "−58" in page.content.decode()) == (200, True)
    snapshot = client.get(f"/leaderboard/snapshots/{runs[1].public_id}/").content.decode()
    assert f"/leaderboard/snapshots/{runs[1].public_id}/changes/" in snapshot


@pytest.mark.slow
def test_changes_page_names_changed_parameters(runs, client, monkeypatch):
    monkeypatch.setattr(method, "VIRTUAL_TIES", 0.25)
    page = client.get(f"/leaderboard/snapshots/{aggregate().public_id}/changes/").content.decode()
    assert "changes do not come from votes alone: virtual_ties 0.5 → 0.25." in page


@pytest.mark.slow
def test_changes_between_boards_are_not_found(runs, client):
    other = AggregationRun.objects.exclude(scope="overall").first()
    assert other is not None
    with pytest.raises(NoSuchSnapshot):
        read_changes(runs[1].public_id, since=other.public_id)
    assert client.get("/leaderboard/snapshots/none/changes/").status_code == 404
