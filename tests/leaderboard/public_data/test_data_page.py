import html
import re

import pytest
from django.test import Client

from accounts.models import AuditEntry
from leaderboard.exports.columns import STARS, VOTES, VOTES_WITH_PROMPTS
from leaderboard.models import DataPolicy, DataRelease
from leaderboard.releases import data_page
from leaderboard.releases.conversations import CONVERSATIONS
from tests import make
from tests.leaderboard.public_data.exports import publish
from tests.leaderboard.public_data.test_prompt_export import make_vote
from tests.leaderboard.vote_factory import cast_many, contestants
from tests.pages import compact

pytestmark = pytest.mark.django_db


def links(page: str) -> list[str]:
    """Return the addresses within the page's main part."""
    main = page[page.index("<main") : page.index("</main>")]
    return [html.unescape(link) for link in re.findall(r'href="(/[^"]*)"', main)]


@pytest.mark.slow
@pytest.mark.parametrize("votes", [True, False])
@pytest.mark.parametrize("prompts", [True, False])
def test_visitor_may_follow_every_link(client: Client, settings, votes, prompts):
    settings.ARENA_PUBLISH_VOTES, settings.ARENA_PUBLISH_PROMPTS = votes, prompts
    assert client.get("/data/").status_code == 200  # of a fresh arena
    cast_many(*contestants("gold", "silver"), left=5)
    snapshot = publish()
    for address in ("/data/", f"/leaderboard/snapshots/{snapshot.public_id}/", "/leaderboard/snapshots/"):
        page = client.get(address).text
        assert ("recompute_snapshot" in page) == (votes and address != "/leaderboard/snapshots/")
        assert {client.get(link).status_code for link in links(page)} <= {200, 302}


def test_licence_has_its_gender_in_french(client: Client):
    page = compact(client.get("/data/", headers={"Accept-Language": "fr"}).text)
    assert re.search(r"<dt>Licence</dt>\s*<dd>\s*aucune\s*</dd>", page)


def test_data_page_has_counts_licence_and_members_command(client: Client, settings):
    settings.ARENA_PUBLISH_PROMPTS = True
    pair = contestants("gold", "silver")
    make_vote(pair), make_vote(pair, consent="")
    publish()
    refused = client.get("/data/").text
    assert "has not chosen a licence" in refused
    assert ("/exports/" in refused, "has not published them" in refused) == (False, True)
    DataPolicy.objects.create(licence="CC BY 4.0", licence_url="https://example.org/by")
    client.force_login(make.user())
    page = compact(client.get("/data/").text)
    assert "Bearer $TOKEN" in page
    assert 'href="https://example.org/by"' in page
    assert re.findall(r'<td class="number">(\d+)</td>', page) == ["2", "0", "1"]
    settings.ARENA_PUBLISH_VOTES = True
    assert "Bearer $TOKEN" not in client.get("/data/").text


def test_every_exported_column_is_described():
    def described(columns: list[data_page.Column]) -> set[str]:
        return {name for names, _ in columns for name in re.split(r", | … ", names)}

    left_out = {name for name in VOTES.columns if name.startswith(("style_", "context_"))}
    assert described(data_page.VOTE_COLUMNS) | left_out == set(VOTES.columns)
    assert described(data_page.STAR_COLUMNS) == set(STARS.columns)
    texts = set(VOTES_WITH_PROMPTS.columns) - set(VOTES.columns)
    assert described(data_page.CONVERSATION_COLUMNS) == texts | set(CONVERSATIONS.columns)


def test_invalid_embargo_is_refused_in_administration(admin_client: Client):
    cast_many(*contestants("gold", "silver"), left=5)
    publish()
    policy = {"licence": "CC0", "licence_url": "", "release_every_days": "7", "embargo_days": "-1"}
    page = admin_client.post("/admin/leaderboard/datapolicy/add/", policy)
    assert "An embargo cannot be negative." in page.text
    assert 'value="CC0"' in page.text
    assert not DataPolicy.objects.exists()
    past = {"embargo_until_0": "2020-01-31", "embargo_until_1": "12:00:00"}
    page = admin_client.post("/admin/leaderboard/datarelease/add/", past)
    assert "The embargo ends in the past." in page.text
    assert 'value="2020-01-31"' in page.text
    assert not DataRelease.objects.exists()
    assert [error.code for error in page.context["adminform"].form.non_field_errors().as_data()] == [
        "embargo_in_the_past"
    ]
    admin_client.post("/admin/leaderboard/datapolicy/add/", {**policy, "embargo_days": "1"})
    admin_client.post("/admin/leaderboard/datarelease/add/", {})
    assert (DataPolicy.objects.get().embargo_days, DataRelease.objects.count()) == (1, 1)
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["add data policy", "plan data release"]
