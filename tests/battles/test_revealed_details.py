"""Failures and reasoning are shown after the vote only, because they could reveal the models."""

import pytest

from battles.models import Answer, Call
from models_registry.models import LanguageModel
from tests import make
from tests.fake_provider import FakeProvider
from tests.site import Reader

pytestmark = pytest.mark.django_db(transaction=True)


def make_models(fake_provider: FakeProvider, *names: str) -> None:
    for name in names:
        make.model(name, at=fake_provider.base_url)


def test_failure_reason_is_shown_after_vote_only(reader: Reader, fake_provider: FakeProvider):
    make_models(fake_provider, "honest-a", "honest-b")
    battle = reader.wait_until_answered(reader.start_battle())
    LanguageModel.objects.update(upstream_name="tool-calls")
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "and again"})
    battle = reader.wait_until_answered(reader.battle(battle["id"]))
    failed = battle["turns"][1]["answers"]
    assert [(answer["error"], answer["error_message"]) for answer in failed] == [
        ("failed", "This model could not answer.")
    ] * 2
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "tie"})
    failed = reader.battle(battle["id"])["turns"][1]["answers"]
    assert [(answer["error"], answer["error_message"]) for answer in failed] == [
        ("tool_calls", "The model tried to call a tool instead of answering.")
    ] * 2
    page = reader.get(f"/s/{battle['session']}/").text
    assert page.count("The model tried to call a tool instead of answering.") == 2


def test_reasoning_is_shown_after_vote_only(reader: Reader, fake_provider: FakeProvider):
    make_models(fake_provider, "reasoning", "honest")
    battle = reader.wait_until_answered(reader.start_battle())
    reader.get(f"/s/{battle['session']}/")
    received = b"".join(reader.received)
    assert b"let me see" not in received
    assert b"reasoning" not in received
    battle = reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"}).json()
    shown = {answer["text"].strip(): answer["reasoning"] for answer in battle["turns"][0]["answers"]}
    assert shown == {"one two": "let me see", "one two three": ""}
    page = reader.get(f"/s/{battle['session']}/").text
    assert page.count('<details class="reasoning">') == 1
    assert page.index("let me see") > page.index('<details class="reasoning">')


def test_cut_off_answer_is_marked_after_vote_only(reader: Reader, fake_provider: FakeProvider):
    make_models(fake_provider, "honest-a", "honest-b")
    battle = reader.wait_until_answered(reader.start_battle())
    Call.objects.filter(pk=Call.objects.first().pk).update(finish_reason="length")
    assert "cut off" not in reader.get(f"/s/{battle['session']}/").text
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    assert reader.get(f"/s/{battle['session']}/").text.count("cut off at the length limit") == 1


def test_figures_of_one_turn_are_on_the_cards_alone(reader: Reader, fake_provider: FakeProvider):
    make_models(fake_provider, "honest-a", "honest-b")
    battle = reader.wait_until_answered(reader.start_battle())
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    page = reader.get(f"/s/{battle['session']}/").text
    assert (page.count("Done after"), page.count("done after")) == (2, 0)
    reader.api("POST", f"battles/{battle['id']}/messages/", {"prompt": "and again"})
    reader.wait_until_answered(reader.battle(battle["id"]))
    page = reader.get(f"/s/{battle['session']}/").text
    assert (page.count("Done after"), page.count("done after")) == (2, 2)


def test_style_counts_tokens_without_reasoning(reader: Reader, fake_provider: FakeProvider):
    make_models(fake_provider, "usage-with-reasoning", "honest")
    battle = reader.wait_until_answered(reader.start_battle())
    reader.api("POST", f"battles/{battle['id']}/vote/", {"choice": "left"})
    thinker = Answer.objects.select_related("side").get(text="one two").side.position
    vote = Call.objects.get(reasoning_tokens=60).answer.turn.battle.vote
    assert vote.style[thinker]["tokens"] == 3
