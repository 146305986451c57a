from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.actions import delete_account
from accounts.actor import Actor
from accounts.models import Role
from accounts.personal_data import collect_personal_data
from battles import actions as battle_actions
from battles.errors import AlreadyVoted
from battles.models import Answer, Attachment, Battle, Call, Session, Side, Vote
from models_registry.models import LanguageModel
from reviews import actions
from reviews.access import asked_reviews, listed_reviews, readable_reviews
from reviews.errors import CannotAskOthers, OthersAreAsked, ReviewTakesNoVotes
from reviews.models import Review, ReviewBattle
from reviews.second_opinions import actions as second_opinions
from reviews.second_opinions.actions import ask_others
from reviews.second_opinions.queries import read_spread
from reviews.sweep import sweep
from tests import make
from tests.worlds.reviews.second_opinions import asked_about, prefer, voted_battle
from uploads.actions import keep_upload

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair() -> tuple[LanguageModel, LanguageModel]:
    return make.model(name="Gazelle ada"), make.model(name="Gazelle bob")


@pytest.fixture
def battle(owner: Actor, pair: tuple[LanguageModel, LanguageModel]) -> Battle:
    return voted_battle(owner, models=pair)


@pytest.fixture
def asked(owner: Actor, battle: Battle) -> Review:
    return ask_others(actor=owner, battle=battle)


def test_others_vote_blind_on_the_same_answers(asked: Review, battle: Battle):
    calls, person = Call.objects.count(), make.visitor()
    shown = actions.next_battle(person, asked)

    assert shown is not None
    assert Call.objects.count() == calls
    assert (shown.mode, shown.series, shown.hides_names) == ("review", asked.public_id, True)
    originals = {
        answer.side.model_id: (answer.text, answer.html, answer.call)
        for answer in Answer.objects.filter(turn__battle=battle).select_related("side", "call")
    }
    copies = Answer.objects.filter(turn__battle=shown).select_related("side", "call")
    assert {copy.side.model_id: (copy.text, copy.html, copy.call) for copy in copies} == originals
    assert shown.turns.get().prompt == "one two three"


def test_spread_counts_people_by_model(asked: Review, pair: tuple[LanguageModel, LanguageModel]):
    left, right = pair
    for model in (left, left, right, None):
        prefer(make.visitor(), asked, model)
    spread = read_spread(asked)
    assert (spread.first, spread.second, spread.counts) == (left, right, (2, 1, 1, 0))
    assert [(share.percent, share.is_owners) for share in spread.shares] == [
        (50, True), (25, False), (25, False), (0, False)
    ]  # fmt: skip


def test_votes_are_on_no_other_board(asked: Review, pair: tuple[LanguageModel, LanguageModel]):
    vote = prefer(make.member(), asked, pair[0])
    assert (vote.series, vote.on_site_boards, vote.categories) == (asked.public_id, False, [])


def test_owners_vote_never_counts(asked: Review, owner: Actor, pair: tuple[LanguageModel, LanguageModel]):
    assert prefer(owner, asked, pair[0]).excluded_reason == "knew_answers"
    assert read_spread(asked).people == 0


def test_person_votes_once_on_a_battle(asked: Review, battle: Battle, owner: Actor):
    person = make.member()
    prefer(person, asked, None)
    assert actions.next_battle(person, asked) is None

    actions.withdraw_review(asked)
    again = ask_others(actor=owner, battle=battle)
    assert again != asked
    assert prefer(person, again, None).excluded_reason == "knew_answers"


def test_asking_again_gives_the_same_link(asked: Review, battle: Battle, owner: Actor):
    assert ask_others(actor=owner, battle=battle) == asked


def test_full_second_opinion_closes(asked: Review, django_capture_on_commit_callbacks):
    asked.items.update(opinions=second_opinions.MAX_PEOPLE - 1)
    with django_capture_on_commit_callbacks(execute=True):
        prefer(make.visitor(), asked, None)
    asked.refresh_from_db()
    assert (asked.state, asked.ended_by) == ("closed", "quota")
    with pytest.raises(ReviewTakesNoVotes):
        actions.next_battle(make.visitor(), asked)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"state": "stopped"}, "whole answers only"),
        ({"call": None}, "whole answers only"),
        ({"leaks_identity": True}, "names its model"),
    ],
)
def test_others_are_asked_about_whole_answers(battle: Battle, owner: Actor, change: dict[str, object], reason: str):
    Answer.objects.filter(turn__battle=battle, side__position="left").update(**change)
    with pytest.raises(CannotAskOthers, match=reason):
        ask_others(actor=owner, battle=battle)


def test_cut_answer_is_given_to_no_others(battle: Battle, owner: Actor):
    Call.objects.filter(shown_in__turn__battle=battle).update(finish_reason="length")
    with pytest.raises(CannotAskOthers, match="cut off"):
        ask_others(actor=owner, battle=battle)


def test_battle_without_vote_is_given_to_no_others(owner: Actor):
    waiting = make.answered_battle(make.model(), make.model(), actor=owner)
    with pytest.raises(CannotAskOthers, match="after your vote"):
        ask_others(actor=owner, battle=waiting)


def test_published_battle_is_given_to_no_others(battle: Battle, owner: Actor):
    battle_actions.publish(battle=battle)
    with pytest.raises(CannotAskOthers, match="Unpublish it first"):
        ask_others(actor=owner, battle=Battle.objects.get(pk=battle.pk))
    battle_actions.withdraw(battle=battle)
    assert ask_others(actor=owner, battle=Battle.objects.get(pk=battle.pk)).state == "open"


def test_battle_is_not_published_while_others_vote(asked: Review, battle: Battle):
    with pytest.raises(OthersAreAsked):
        battle_actions.publish(battle=battle)
    actions.withdraw_review(asked)
    assert battle_actions.publish(battle=battle).turn_count == 1


def test_second_opinion_is_listed_for_its_owner(asked: Review, owner: Actor):
    others = [make.member(), make.visitor()]
    assert [asked in listed_reviews(actor) for actor in (owner, *others)] == [True, False, False]
    assert [asked in readable_reviews(actor) for actor in (owner, *others)] == [True, True, True]
    assert not any(asked_reviews(actor).exists() for actor in others)


def test_team_asks_its_members_only():
    maker, mate, stranger = (make.member() for _n in range(3))
    assert maker.user is not None
    assert mate.user is not None
    team = make.team(maker.user, members={Role.MEMBER: [mate.user]})
    asked = asked_about(Actor(user=maker.user), place=team)
    assert (asked.team, asked.audience) == (team, "team")
    of_team = Actor(user=mate.user)
    assert readable_reviews(of_team).filter(pk=asked.pk).exists()
    assert not listed_reviews(of_team).filter(pk=asked.pk).exists()
    assert not readable_reviews(stranger).filter(pk=asked.pk).exists()
    assert prefer(of_team, asked, None).excluded_reason == ""
    assert asked.battle is not None
    with pytest.raises(OthersAreAsked):
        battle_actions.share_with_team(Actor(user=maker.user), asked.battle.session, is_shared=True)


def test_deleted_session_takes_copies_and_link_along(asked: Review, battle: Battle, owner: Actor):
    upload = keep_upload(actor=owner, content=b"A lighthouse by the sea.", name="notes.txt")
    Attachment.objects.create(turn=battle.turns.get(), upload=upload, position=0)
    person = make.visitor()
    vote = prefer(person, asked, None)
    copy = vote.battle
    assert Attachment.objects.filter(turn__battle=copy, upload=upload).exists()

    battle_actions.delete_session(battle.session)

    asked.refresh_from_db()
    assert asked.state == "withdrawn"
    assert list(copy.turns.values_list("prompt", flat=True)) == [""]
    assert not Answer.objects.filter(turn__battle=copy).exclude(text="").exists()
    assert Session.objects.get(pk=copy.session_id).owner is None
    assert Vote.objects.get(pk=vote.pk).voter.startswith("deleted:")
    assert not Attachment.objects.filter(upload=upload).exists()


def test_discarded_session_hides_the_link(asked: Review, battle: Battle):
    person = make.visitor()
    battle_actions.discard_session(battle.session)
    assert not readable_reviews(person).exists()
    Session.objects.filter(pk=battle.session_id).update(discarded_at=None)
    assert readable_reviews(person).exists()


def test_hidden_battle_is_shown_to_no_others(asked: Review, battle: Battle):
    Battle.objects.filter(pk=battle.pk).update(hidden_at=timezone.now())
    assert not readable_reviews(make.visitor()).exists()


def test_text_deleted_meanwhile_is_shown_to_no_one(asked: Review, battle: Battle):
    stale = Review.objects.select_related("battle", "team").get(pk=asked.pk)
    battle_actions.delete_session(battle.session)
    with pytest.raises(ReviewTakesNoVotes):
        actions.next_battle(make.visitor(), stale)
    assert not Battle.objects.filter(mode="review").exists()


def test_place_of_a_sleeper_becomes_free(asked: Review):
    asked.items.update(opinions=second_opinions.MAX_PEOPLE - 1)
    assert actions.next_battle(make.visitor(), asked) is not None
    assert actions.next_battle(make.visitor(), asked) is None
    ReviewBattle.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    sweep()
    assert actions.next_battle(make.visitor(), asked) is not None


def test_database_keeps_second_opinions_in_their_place(battle: Battle, owner: Actor):
    fields = {"battle": battle, "owner": owner.user, "title": "A", "state": "open", "opened_at": timezone.now()}
    with pytest.raises(DatabaseError, match="a_second_opinions_battle_is_of_its_place"), transaction.atomic():
        Review.objects.create(**fields, team=make.team(owner.user), audience="team")
    Review.objects.create(**fields, audience="everyone")
    with pytest.raises(DatabaseError, match="a_battle_has_one_second_opinion"), transaction.atomic():
        Review.objects.create(**fields, audience="everyone")


def test_sides_are_drawn_anew_for_each_person(asked: Review):
    drawn = {actions.next_battle(make.visitor(), asked) for _n in range(20)}
    lefts = set(Side.objects.filter(battle__in=drawn, position="left").values_list("model", flat=True))
    assert len(lefts) == 2


def test_second_vote_of_a_person_is_refused(asked: Review):
    person = make.visitor()
    vote = prefer(person, asked, None)
    with pytest.raises(AlreadyVoted):
        battle_actions.cast_vote(actor=person, battle=vote.battle, choice=Vote.Choice.LEFT)


def test_deleted_account_takes_copies_along(asked: Review, owner: Actor):
    vote = prefer(make.visitor(), asked, None)
    assert owner.user is not None
    [exported] = collect_personal_data(owner.user)["reviews"]
    assert asked.battle is not None
    assert (exported["id"], exported["battle"]) == (asked.public_id, asked.battle.public_id)

    delete_account(owner.user)

    assert not Review.objects.exists()
    assert list(vote.battle.turns.values_list("prompt", flat=True)) == [""]
