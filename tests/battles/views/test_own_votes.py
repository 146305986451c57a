"""A person's votes with filters, on the page and in the API."""

import csv
import io

import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Battle, Vote
from models_registry.models import LanguageModel
from tests import make
from tests.leaderboard import vote_factory

pytestmark = pytest.mark.django_db
API, PAGE = "/api/v1/me/votes/", "/votes/"


@pytest.fixture
def member() -> Actor:
    return make.member()


@pytest.fixture
def models() -> list[LanguageModel]:
    return vote_factory.contestants("ada", "bob", "cyd", "dee")


@pytest.fixture
def browser(member: Actor, models: list[LanguageModel]) -> Client:
    """Return the browser of a member with three votes and an open battle."""
    ada, bob, cyd, dee = models
    first = cast(member, ada, bob, "left", title="first")
    second = cast(member, bob, cyd, "tie", title="<b>second</b>")
    cast(member, cyd, ada, "right", mode=Battle.Mode.SIDE_BY_SIDE, title="third")
    cast(make.member(), ada, dee, "left", title="of another person")
    make.answered_battle(ada, dee, actor=member)
    Vote.objects.filter(pk=first.pk).update(excluded_reason=Vote.ExcludedReason.OPERATOR)
    Vote.objects.filter(pk=second.pk).update(categories=["coding", "maths"], language="fr")
    return make.browser(member)


def cast(actor: Actor, left: LanguageModel, right: LanguageModel, choice: str, *, title: str, mode: str = "") -> Vote:
    battle = make.answered_battle(left, right, actor=actor)
    if mode:
        Battle.objects.filter(pk=battle.pk).update(mode=mode)
    actions.update_session(battle.session, title=title)
    return actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice(choice))


def main_part(page: str) -> str:
    """Return the page without the sidebar, which has the titles, too."""
    return page.partition('<main id="main"')[2]


def titles(browser: Client, query: str) -> list[str]:
    return [vote["title"] for vote in browser.get(API + query).json()["results"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["third", "<b>second</b>", "first"]),
        ("?model=ada", ["third", "first"]),
        ("?model=ada&against=cyd", ["third"]),
        ("?choice=tie", ["<b>second</b>"]),
        ("?mode=side_by_side", ["third"]),
        ("?category=coding&language=fr", ["<b>second</b>"]),
        ("?counted=true&choice=left", []),
        ("?counted=false", ["first"]),
        ("?mode=blind&limit=1", ["<b>second</b>"]),
        ("?until=2020-01-31", []),
        ("?since=2020-01-31&until=2199-12-31&model=bob&choice=left", ["first"]),
    ],
)
def test_filters_select_votes(browser: Client, query: str, expected: list[str]):
    assert titles(browser, query) == expected
    page = main_part(browser.get(PAGE + query).text)
    if "limit" not in query:
        assert [page.count(title) for title in ("third", "&lt;b&gt;second", "first")] == [
            expected.count(title) for title in ("third", "<b>second</b>", "first")
        ]


def test_vote_names_its_models_and_open_battles_do_not(browser: Client):
    [first] = browser.get(f"{API}?choice=left").json()["results"]
    assert (first["left"], first["right"]) == ({"id": "ada", "name": "Ada"}, {"id": "bob", "name": "Bob"})
    assert (first["choice"], first["mode"], first["counted"], first["excluded_reason"]) == (
        "left", "blind", False, "operator",
    )  # fmt: skip
    page = main_part(browser.get(PAGE).text)
    assert "Cyd" in page
    assert "Dee" not in page
    assert Client().get(API).json()["results"] == []


@pytest.mark.parametrize(
    ("query", "field", "sentence"),
    [
        ("?model=dee", "model", "You have no vote on “dee”."),
        ("?against=no%27s", "against", "You have no vote on “no&#x27;s”."),
        ("?choice=best", "choice", ""),
        ("?mode=compare", "mode", ""),
        ("?category=images", "category", "You have no vote with this label."),
        ("?language=xx", "language", "You have no vote with this label."),
        ("?counted=maybe", "counted", ""),
        ("?since=31/01/2020", "since", "Write a day as 2026-11-23."),
        ("?since=0001-01-01", "since", "Write a day as 2026-11-23."),
        ("?until=9999-12-31", "until", "Write a day as 2026-11-23."),
        ("?since=2021-01-01&until=2020-01-01", "until", "This day is before the first one."),
    ],
)
def test_invalid_filter_is_refused_at_its_field(browser: Client, query: str, field: str, sentence: str):
    refused = browser.get(API + query)
    assert (refused.status_code, refused.json()["code"], list(refused.json()["fields"])) == (400, "invalid", [field])
    page = browser.get(PAGE + query)
    assert (page.status_code, sentence in page.text, "third" in main_part(page.text)) == (422, True, False)


@pytest.mark.slow
def test_list_is_paged_in_a_fixed_number_of_queries(
    browser: Client, member: Actor, models: list[LanguageModel], django_assert_max_num_queries
):
    for _ in range(49):
        cast(member, models[0], models[1], "left", title="more")
    with django_assert_max_num_queries(14):
        page = browser.get(PAGE)
    assert "Page 1 of 2" in page.text
    assert "first" in browser.get(f"{PAGE}?page=2").text


def test_deleted_sessions_and_hidden_texts_are_left_out(browser: Client):
    battle = Battle.objects.get(session__title="first")
    actions.discard_session(battle.session)
    Battle.objects.filter(session__title="third").update(hidden_at="2026-01-01T00:00Z")
    assert titles(browser, "") == ["", "<b>second</b>"]


def test_votes_are_downloaded_with_their_filter(browser: Client):
    rows = list(csv.DictReader(io.StringIO(browser.get(f"{PAGE}?format=csv").text)))
    assert [(row["title"], row["left"], row["right"], row["choice"]) for row in rows] == [
        ("third", "cyd", "ada", "right"), ("<b>second</b>", "bob", "cyd", "tie"), ("first", "ada", "bob", "left"),
    ]  # fmt: skip
    assert (rows[1]["categories"], rows[1]["language"]) == ("coding;maths", "fr")
    assert rows[2]["excluded_reason"] == "operator"
    found = browser.get(f"{PAGE}?format=json&category=maths")
    of_api = browser.get(f"{API}?category=maths").json()["results"]
    assert [vote["battle"] for vote in found.json()["votes"]] == [vote["battle"] for vote in of_api]
    assert found.headers["Cache-Control"] == "private, no-store"
    assert browser.get(f"{PAGE}?format=csv&model=dee").status_code == 422
