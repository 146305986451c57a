"""From the prompt to the vote's labels, and what a change of the rules does to them."""

import pytest
from django.core.management import call_command
from django.test import Client

from battles import actions
from battles.labels import LabelChange, Labels, relabel
from battles.labels.relabel import reclassify, settle_pending
from battles.models import Answer, Battle, Category, Turn, Vote
from battles.signals import labels_change, relabelling_begins
from battles.text.classifier import VERSION
from tests import make

pytestmark = pytest.mark.django_db


def vote_on(*prompts: str, labels: bool = True, failed: tuple[int, ...] = ()) -> Vote:
    """A vote on a battle with these turns; in the `failed` ones a side could not answer."""
    actor = make.visitor()
    battle = make.battle(make.model(), make.model(), actor=actor, prompt=prompts[0])
    for prompt in prompts[1:]:
        make.turn(battle, prompt=prompt)
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.filter(turn__battle=battle).update(state=Answer.State.DONE, text="an answer")
    broken = Answer.objects.filter(turn__battle=battle, turn__index__in=failed, side__position="left")
    broken.update(state=Answer.State.FAILED, text="", error="cut")
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    if not labels:
        Vote.objects.filter(pk=vote.pk).update(categories=[], language="und", labelled_by="", prompt_digest="")
    return vote


def labels_of(vote: Vote) -> tuple[list[str], str]:
    vote.refresh_from_db()
    return vote.categories, vote.language


@pytest.fixture
def changes():
    """What whoever counts votes is told."""
    told: list[LabelChange] = []

    def listen(changes: list[LabelChange], **_: object) -> None:
        told.extend(changes)

    labels_change.connect(listen)
    yield told
    labels_change.disconnect(listen)


def test_a_battle_is_filed_when_it_begins_and_its_vote_with_it(client: Client):
    for _ in range(3):
        make.model()
    actor = make.member()
    battle = actions.start_session(actor=actor, prompt="Écris une fonction Python qui trie une liste")
    assert (battle.categories, battle.language, battle.labelled_by) == (["coding"], "fr", VERSION)
    battle.turns.update(state=Turn.State.DONE)
    Answer.objects.update(state=Answer.State.DONE, text="def trie(): ...")
    vote = actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    assert labels_of(vote) == (["coding"], "fr")
    assert (vote.labelled_by, vote.prompt_digest) == (VERSION, battle.prompt_digest)


def test_a_vote_is_filed_by_the_turns_it_is_on():
    vote = vote_on("Tell me about bees", "Now write a poem about them", "Solve 3x + 5 = 20", failed=(2,))
    assert labels_of(vote) == (["creative-writing", "multi-turn"], "en")
    assert vote_on("Tell me about bees", "Write a poem", failed=(1,)).categories == []


def test_what_a_battle_shows_after_the_vote_is_what_the_vote_is_filed_under(client: Client):
    member = make.user()
    client.force_login(member)
    vote = vote_on("Tell me about bees", "Now write a poem about them")
    vote.battle.session.owner_user, vote.battle.session.owner_visitor = member, None
    vote.battle.session.save()
    shown = client.get(f"/api/v1/battles/{vote.battle.public_id}/").json()
    assert shown["categories"] == ["creative-writing", "multi-turn"]


def test_pending_votes_are_labelled_again_only_when_the_rules_have_changed(django_assert_num_queries):
    votes = [vote_on("Write a poem about the sea", labels=False) for _ in range(3)]
    assert settle_pending() == 3
    assert [labels_of(vote) for vote in votes] == [(["creative-writing"], "en")] * 3
    with django_assert_num_queries(2):
        assert settle_pending() == 0


def test_settling_asks_the_same_number_of_questions_for_many_votes(django_assert_num_queries):
    for _ in range(4):
        vote_on("Write a poem about the sea", "and another", labels=False)
    with django_assert_num_queries(5):
        assert settle_pending() == 4


def test_a_category_of_the_operators_own_reaches_pending_votes():
    vote = vote_on("How do I file a GDPR complaint in France?")
    Category.objects.create(slug="law", name="Law", phrases=["gdpr", "tax*"], languages=["en", "fr"])
    assert settle_pending() == 1
    assert labels_of(vote) == (["law"], "en")
    assert vote_on("Wie beschwere ich mich nach der DSGVO, also der GDPR?").categories == []
    assert vote_on("Which taxes does a freelancer pay?").categories == ["law"]


def test_counted_votes_keep_their_labels_until_somebody_reclassifies(changes):
    vote = vote_on("Write a poem about the sea", labels=False)
    Vote.objects.update(processing=Vote.Processing.EXCLUDED)
    assert settle_pending() == 0
    assert reclassify() == 1
    assert labels_of(vote) == (["creative-writing"], "en")
    assert changes == [LabelChange(vote.pk, Labels(), Labels(("creative-writing",), "en"))]
    assert reclassify(everything=True) == 0
    assert len(changes) == 1


def test_reclassifying_goes_in_batches_under_the_lock_of_the_count(monkeypatch):
    monkeypatch.setattr(relabel, "BATCH", 2)
    for _ in range(5):
        vote_on("Write a poem about the sea", labels=False)
    begun: list[object] = []

    def begin(**_: object) -> None:
        begun.append(Vote.objects.exclude(labelled_by="").count())

    relabelling_begins.connect(begin)
    progress: list[tuple[int, int]] = []
    try:
        reclassify(progress=lambda done, of: progress.append((done, of)))
    finally:
        relabelling_begins.disconnect(begin)
    assert progress == [(2, 5), (4, 5), (5, 5)]
    assert begun == [0, 2, 4]


def test_a_deleted_conversation_keeps_its_labels(changes):
    vote = vote_on("Write a poem about the sea")
    actions.delete_session(vote.battle.session)
    Vote.objects.update(labelled_by="labels-0")
    assert reclassify(everything=True) == 0
    assert settle_pending() == 0
    assert labels_of(vote) == (["creative-writing"], "en")
    assert changes == []


def test_the_command_says_how_far_it_is(capsys):
    vote_on("Write a poem about the sea", labels=False)
    call_command("classify_votes")
    assert capsys.readouterr().out.splitlines() == ["1 of 1 votes labelled", "0 votes moved to other boards."]


def test_the_same_prompt_has_the_same_digest_however_it_is_typed():
    first, second, other = vote_on("Hello there!"), vote_on("  hello\nTHERE "), vote_on("hello here")
    assert first.prompt_digest == second.prompt_digest != other.prompt_digest
    assert vote_on("Hello there", "and now?").prompt_digest != first.prompt_digest


def test_a_battle_of_before_there_were_labels_is_labelled_by_its_vote():
    battle = Battle.objects.get(pk=vote_on("Write a poem about the sea").battle_id)
    assert (battle.labelled_by, battle.vote.categories) == ("", ["creative-writing"])
