import pytest
from django.core.management import call_command
from django.test import Client

from battles import actions
from battles.labels import LabelChange, Labels, labelling
from battles.labels.labelling import relabel_pending, relabel_votes
from battles.models import Answer, Battle, Category, Turn, Vote
from battles.signals import labels_change, relabelling_begins
from battles.text.classifier import VERSION
from tests import make

pytestmark = pytest.mark.django_db


def cast_vote_on(*prompts: str, labels: bool = True, failed: tuple[int, ...] = ()) -> Vote:
    """Cast a vote on a battle with one turn per prompt; the left side fails in the turns `failed`."""
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
    """Collect the changes sent with labels_change."""
    received: list[LabelChange] = []

    def receive(changes: list[LabelChange], **_: object) -> None:
        received.extend(changes)

    labels_change.connect(receive)
    yield received
    labels_change.disconnect(receive)


def test_new_battle_and_its_vote_are_labelled(client: Client):
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


def test_vote_is_labelled_by_judged_turns():
    vote = cast_vote_on("Tell me about bees", "Now write a poem about them", "Solve 3x + 5 = 20", failed=(2,))
    assert labels_of(vote) == (["creative-writing", "multi-turn"], "en")
    assert cast_vote_on("Tell me about bees", "Write a poem", failed=(1,)).categories == []


def test_voted_battle_shows_categories_of_vote(client: Client):
    member = make.user()
    client.force_login(member)
    vote = cast_vote_on("Tell me about bees", "Now write a poem about them")
    vote.battle.session.owner_user, vote.battle.session.owner_visitor = member, None
    vote.battle.session.save()
    shown = client.get(f"/api/v1/battles/{vote.battle.public_id}/").json()
    assert shown["categories"] == ["creative-writing", "multi-turn"]


def test_pending_votes_are_relabelled_once(django_assert_num_queries):
    votes = [cast_vote_on("Write a poem about the sea", labels=False) for _ in range(3)]
    assert relabel_pending(Vote.objects.all()) == 3
    assert [labels_of(vote) for vote in votes] == [(["creative-writing"], "en")] * 3
    with django_assert_num_queries(2):
        assert relabel_pending(Vote.objects.all()) == 0


def test_relabelling_has_fixed_query_count(django_assert_num_queries):
    for _ in range(4):
        cast_vote_on("Write a poem about the sea", "and another", labels=False)
    with django_assert_num_queries(5):
        assert relabel_pending(Vote.objects.all()) == 4


def test_custom_category_reaches_pending_votes():
    vote = cast_vote_on("How do I file a GDPR complaint in France?")
    Category.objects.create(slug="law", name="Law", phrases=["gdpr", "tax*"], languages=["en", "fr"])
    assert relabel_pending(Vote.objects.all()) == 1
    assert labels_of(vote) == (["law"], "en")
    assert cast_vote_on("Wie beschwere ich mich nach der DSGVO, also der GDPR?").categories == []
    assert cast_vote_on("Which taxes does a freelancer pay?").categories == ["law"]


def test_counted_votes_keep_labels_until_relabelled(changes):
    vote = cast_vote_on("Write a poem about the sea", labels=False)
    assert relabel_pending(Vote.objects.none()) == 0
    assert relabel_votes() == 1
    assert labels_of(vote) == (["creative-writing"], "en")
    assert changes == [LabelChange(vote.pk, Labels(), Labels(("creative-writing",), "en"))]
    assert relabel_votes(everything=True) == 0
    assert len(changes) == 1


def test_relabelling_runs_in_batches_under_lock(monkeypatch):
    monkeypatch.setattr(labelling, "BATCH", 2)
    for _ in range(5):
        cast_vote_on("Write a poem about the sea", labels=False)
    begun: list[object] = []

    def begin(**_: object) -> None:
        begun.append(Vote.objects.exclude(labelled_by="").count())

    relabelling_begins.connect(begin)
    progress: list[tuple[int, int]] = []
    try:
        relabel_votes(progress=lambda done, total: progress.append((done, total)))
    finally:
        relabelling_begins.disconnect(begin)
    assert progress == [(2, 5), (4, 5), (5, 5)]
    assert begun == [0, 2, 4]


def test_deleted_conversation_keeps_labels(changes):
    vote = cast_vote_on("Write a poem about the sea")
    actions.delete_session(vote.battle.session)
    Vote.objects.update(labelled_by="labels-0")
    assert relabel_votes(everything=True) == 0
    assert relabel_pending(Vote.objects.all()) == 0
    assert labels_of(vote) == (["creative-writing"], "en")
    assert changes == []


def test_command_prints_progress(capsys):
    cast_vote_on("Write a poem about the sea", labels=False)
    call_command("classify_votes")
    assert capsys.readouterr().out.splitlines() == ["1 of 1 votes labelled", "1 votes have new labels."]


def test_digest_ignores_case_and_spacing():
    first, second, other = cast_vote_on("Hello there!"), cast_vote_on("  hello\nTHERE "), cast_vote_on("hello here")
    assert first.prompt_digest == second.prompt_digest != other.prompt_digest
    assert cast_vote_on("Hello there", "and now?").prompt_digest != first.prompt_digest


def test_vote_labels_battle_without_labels():
    battle = Battle.objects.get(pk=cast_vote_on("Write a poem about the sea").battle_id)
    assert (battle.labelled_by, battle.vote.categories) == ("", ["creative-writing"])
