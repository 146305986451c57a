import pytest
from django.test import Client

from accounts.models import AuditEntry, User
from leaderboard.aggregation import job
from leaderboard.counting import schedule
from leaderboard.models import ListedBoard
from tests.leaderboard.vote_factory import ballot, cast_all, contestants

pytestmark = pytest.mark.django_db
ADD = "/admin/leaderboard/listedboard/add/"


@pytest.fixture
def admin(client: Client, administrator: User) -> Client:
    models = contestants("a", "b")
    cast_all([ballot(*models, "left", language=language) for language in ("en", "fr", "de") for _ in range(4)])
    job.aggregate(slot=schedule.new_slot())
    client.force_login(administrator)
    return client


def boards(client: Client) -> dict[str, str]:
    return {board["board"]: board["title"] for board in client.get("/api/v1/boards/").json()["results"]}


@pytest.mark.slow
def test_board_is_renamed_ordered_and_hidden(admin: Client):
    assert list(boards(admin)) == ["overall", "language:en", "language:fr", "language:de"]
    assert admin.post(ADD, {"scope": "language:de", "title": "Deutsch", "position": "1"}).status_code == 302
    row = f"/admin/leaderboard/listedboard/{ListedBoard.objects.get().pk}/change/"
    assert admin.post(row, {"title": "German", "position": "1"}).status_code == 302
    hidden = {"scope": "language:fr", "position": "32767", "is_hidden": "on"}
    assert admin.post(ADD, hidden).status_code == 302
    assert boards(admin) == {"overall": "Overall", "language:de": "German", "language:en": "English"}
    page = admin.get("/leaderboard/").text
    assert ("German" in page, "French" in page) == (True, False)
    french = "?board=language:fr"
    for path in ("/leaderboard/", "/leaderboard/charts/", "/api/v1/leaderboard/", "/api/v1/leaderboard/matrix/"):
        assert admin.get(path + french).status_code == 404
    assert "French" not in admin.get("/leaderboard/models/a/").text
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "subject")) == [
        ("add listed board", "language:de"), ("change listed board", "language:de"),
        ("add listed board", "language:fr"),
    ]  # fmt: skip


def test_impossible_listing_is_refused_and_kept(admin: Client):
    for fields, sentence in [
        ({"scope": "overall", "is_hidden": "on"}, "Overall cannot be hidden."),
        ({"scope": "language:xx"}, "Select a valid choice"),
        ({"scope": "language:de", "title": "x" * 81}, "at most 80"),
    ]:
        page = admin.post(ADD, {"position": "77", **fields})
        assert (page.status_code, sentence in page.text, 'value="77"' in page.text) == (200, True, True)
