import json

import pytest
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Battle, Vote
from tests import make
from tests.battles.reviews.owner import reviews  # noqa: F401 (a fixture)

pytestmark = pytest.mark.django_db

CANARIES = {"zebra-9d41": "left", "okapi-27fe": "right"}
# Tokens, times and cost of the stored calls, which are another's run.
FIGURES = {
    "prompt_tokens": 48_131, "completion_tokens": 48_132, "reasoning_tokens": 48_133, "first_token_ms": 48_134,
    "total_ms": 48_135, "cost": "0.48136", "provider_request_id": "request-48137",
}  # fmt: skip


@pytest.fixture
def person() -> Actor:
    return make.visitor()


@pytest.fixture
def browser(person: Actor) -> Client:
    return make.browser(person)


@pytest.fixture
def battle(person: Actor) -> Battle:
    models = [
        make.model(f"up-{name}", slug=f"slug-{name}", name=f"Name {name}", organization=f"Org {name}")
        for name in CANARIES
    ]
    return make.stored_battle(models[0], models[1], actor=person)


def everything(browser: Client, battle: Battle) -> str:
    """Return what the person's pages and calls answer."""
    session = battle.session.public_id
    answers = [
        browser.get(path)
        for path in (
            f"/s/{session}/", f"/s/{session}/?battle={battle.public_id}", "/sessions/", "/votes/",
            f"/s/{session}/export/?as=json", f"/s/{session}/export/?as=markdown",
            f"/api/v1/battles/{battle.public_id}/",
            f"/api/v1/sessions/{session}/", "/api/v1/sessions/", f"/api/v1/sessions/{session}/export/?as=json",
        )
    ]  # fmt: skip
    answers.append(browser.get(f"/battles/{battle.public_id}/", headers={"HX-Request": "true"}))
    assert {answer.status_code for answer in answers} == {200}
    return "\n".join(answer.text for answer in answers)


def test_nothing_of_models_and_calls_leaves_before_vote(person: Actor, browser: Client):
    models = [make.model(f"up-{name}", slug=f"slug-{name}", name=f"Name {name}") for name in CANARIES]
    battle = make.stored_battle(
        models[0], models[1], actor=person, reasoning="as zebra-9d41 I think",
        call=make.stored_call(models[0], **FIGURES),
    )  # fmt: skip
    received = everything(browser, battle)
    assert "an answer" in received
    for hidden in (*CANARIES, *map(str, FIGURES.values()), "48,13", "48.1"):
        assert hidden not in received


def test_payload_before_vote_is_of_awaited_vote(browser: Client, battle: Battle):
    payload = browser.get(f"/api/v1/battles/{battle.public_id}/").json()
    assert (payload["mode"], payload["state"], payload["sides"], payload["stream_url"]) == (
        "review", "awaiting_vote", None, None,
    )  # fmt: skip
    allowed = {name: value for name, value in payload.items() if name.startswith("can_")}
    assert allowed.pop("can_vote")
    assert not any(allowed.values())
    assert payload["turns"][0]["answers"][0].keys() == {"side", "state", "text", "html", "error", "error_message"}


def test_vote_reveals_names_but_no_figures(browser: Client, battle: Battle):
    page = browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"}, headers={"HX-Request": "true"}).text
    assert "Name zebra-9d41" in page
    assert "Next battle" not in page
    assert "Follow up" not in page
    payload = browser.get(f"/api/v1/battles/{battle.public_id}/").json()
    answer = payload["turns"][0]["answers"][0]
    figures = ("cost", "prompt_tokens", "completion_tokens", "reasoning_tokens", "first_token_ms", "total_ms")
    assert {answer[name] for name in figures} == {None}
    assert not payload["can_publish"]


@pytest.mark.usefixtures("reviews")
def test_next_answers_follow_where_review_has_some(browser: Client, battle: Battle):
    before = browser.get(battle.get_absolute_url()).text
    assert "/next/a-review/" not in before
    browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    assert 'action="/next/a-review/"' in browser.get(battle.get_absolute_url()).text


def test_vote_without_script_leads_to_battle(browser: Client, battle: Battle):
    answer = browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    session = battle.session.public_id
    assert answer.headers["Location"] == f"/s/{session}/?battle={battle.public_id}#battle-{battle.public_id}"


def test_page_of_one_battle_shows_no_other(person: Actor, browser: Client, battle: Battle):
    left, right = (side.model for side in battle.sides.all())
    other = make.stored_battle(left, right, actor=person)
    address = f"/s/{battle.session.public_id}/"
    page = browser.get(f"{address}?battle={battle.public_id}").text
    assert f'id="battle-{battle.public_id}"' in page
    assert f'id="battle-{other.public_id}"' not in page
    assert "All your votes in this review" in page
    whole = browser.get(address).text
    assert f'id="battle-{other.public_id}"' in whole
    assert 'id="composer"' not in whole
    another = make.stored_battle(left, right, actor=person, series="another")
    for missing in (another.public_id, make.stored_battle(left, right).public_id, "none"):
        assert browser.get(address, {"battle": missing}).status_code == 404


def test_open_page_of_one_battle_gets_its_news_alone(person: Actor, browser: Client, battle: Battle):
    left, right = (side.model for side in battle.sides.all())
    make.stored_battle(left, right, actor=person)
    address = f"/s/{battle.session.public_id}/?battle={battle.public_id}"
    page = browser.get(address).text
    version = page.split('data-version="')[1].split('"')[0]
    htmx = {"HX-Request": "true"}
    assert browser.get(f"{address}&known={version}", headers=htmx).status_code == 204
    actions.cast_vote(actor=person, battle=battle, choice=Vote.Choice.TIE)
    assert "Name zebra-9d41" in browser.get(f"{address}&known={version}", headers=htmx).text


def test_no_form_and_no_call_starts_battle_of_review(db):
    client, body = make.api(), {"prompt": "hello", "mode": "review"}
    assert client.post("/api/v1/sessions/", json.dumps(body), content_type="application/json").status_code == 400
    assert 'value="review"' not in make.browser(make.member()).get("/").text


def test_votes_page_lists_review(browser: Client, battle: Battle):
    browser.post(f"/battles/{battle.public_id}/vote/", {"choice": "left"})
    page = browser.get("/votes/", {"mode": "review"}).text
    assert f"?battle={battle.public_id}#battle-{battle.public_id}" in page
    assert "Review of answers" in page
