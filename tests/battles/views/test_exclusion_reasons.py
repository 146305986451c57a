import pytest
from django.template.loader import render_to_string
from django.test import Client

from accounts.actor import Actor
from battles import actions
from battles.models import Answer, Vote
from tests import make

REASON_TEXTS = {
    "identity_leak": "an answer revealed a model’s name.",
    "moderation": "a moderator excluded its prompt.",
    "duplicate_prompt": "the same prompt was voted on too often.",
    "incomplete": "an answer was stopped.",
    "operator": "the operator excluded it.",
    "over_daily_cap": "you or your network reached the daily limit.",
    "knew_answers": "you could read these answers with their names before.",
    "repeated": "you had these answers before: it shows how steady votes are.",
    "set_aside": "the owner of the review set your votes aside.",
    "too_fast": "it came too soon for the answers to be read.",
    "gold": "both answers were the same one, cut off in one of them: it shows how closely people look.",
}


def test_every_exclusion_reason_has_its_own_text():
    words = {
        reason: render_to_string("leaderboard/excluded_reason.html", {"reason": reason})
        for reason in Vote.ExcludedReason.values
    }
    assert len(set(words.values())) == len(Vote.ExcludedReason.values)


@pytest.mark.parametrize("reason", sorted({*Vote.ExcludedReason.values, ""}))
def test_page_states_why_a_vote_does_not_count(client: Client, db, reason: str):
    member = make.user()
    client.force_login(member)
    actor = Actor(user=member, network="127.0.0.1")
    battle = make.answered_battle(make.model(), make.model(), actor=actor)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    Vote.objects.update(excluded_reason=reason)
    page = client.get(battle.session.get_absolute_url()).content.decode()
    assert ("This vote does not count" in page) == (reason in REASON_TEXTS)  # one under review reads as counted
    assert [words for words in REASON_TEXTS.values() if words in page] == (
        [REASON_TEXTS[reason]] if reason in REASON_TEXTS else []
    )


def test_vote_on_stopped_answer_states_the_reason(client: Client, db):
    member = make.user()
    client.force_login(member)
    battle = make.answered_battle(make.model(), make.model(), actor=Actor(user=member, network="127.0.0.1"))
    Answer.objects.filter(side__position="left").update(state=Answer.State.STOPPED)
    page = client.post(f"/battles/{battle.public_id}/vote/", {"choice": "right"}, follow=True).content.decode()
    assert REASON_TEXTS["incomplete"] in page
