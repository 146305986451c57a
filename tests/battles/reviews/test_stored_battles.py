import json
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.actor import Actor
from accounts.errors import NotInTeam
from accounts.models import Team
from accounts.personal_data import collect_personal_data
from battles import actions
from battles.actions.stored_battles import StoredAnswer, StoredTurn, start_stored_battle
from battles.errors import AlreadyVoted, InAReview, NothingToRegenerate, NothingToStop
from battles.labels import daily_caps
from battles.models import Answer, Battle, Call, Turn, Vote, VoteNetwork
from battles.prompting.consent import last_agreed_version
from battles.queries import get_battle
from battles.signals import vote_cast
from common.text import markdown
from common.valkey.limits import LimitReached
from models_registry.models import LanguageModel
from tests import make
from uploads.actions import keep_upload
from uploads.models import Upload

pytestmark = pytest.mark.django_db

TURNS = ("first prompt", "second prompt")


@pytest.fixture
def person() -> Actor:
    return make.visitor()


def two_turns(left: LanguageModel, right: LanguageModel) -> list[StoredTurn]:
    return [
        StoredTurn(
            prompt,
            (
                StoredAnswer(f"{prompt} **one**", make.stored_call(left)),
                StoredAnswer(f"{prompt} **two**", make.stored_call(right)),
            ),
        )
        for prompt in TURNS
    ]


def start(person: Actor, left: LanguageModel, right: LanguageModel, **fields: Any) -> Battle:
    fields = {"series": "a-review", "title": "Review of answers", "team": None, "propensity": 0.25, **fields}
    return start_stored_battle(person, turns=two_turns(left, right), models=(left, right), **fields)


def test_stored_answers_stand_beside_their_models(person: Actor):
    left, right = make.model(), make.model()
    words, sides = {left: "one", right: "two"}, set()
    for _ in range(20):
        battle = get_battle(start(person, left, right).pk)
        assert [turn.prompt for turn in battle.turns.all()] == list(TURNS)
        for turn in battle.turns.all():
            for answer in turn.answers.all():
                assert answer.text == f"{turn.prompt} **{words[answer.side.model]}**"
                assert answer.html == markdown.render(answer.text)
        sides.add(battle.sides.get(position="left").model)
    assert sides == {left, right}


def test_battle_shows_answers_of_calls_again(person: Actor):
    left, right = make.model(), make.model()
    turns = two_turns(left, right)
    for _ in range(2):
        start_stored_battle(
            person, series="a-review", title="", team=None, turns=turns, models=(left, right), propensity=1.0
        )
    assert Call.objects.count() == 4
    assert Answer.objects.count() == 8
    assert not Turn.objects.exclude(state=Turn.State.DONE).exists()


def test_battles_of_review_share_session(person: Actor):
    models = make.model(), make.model()
    first, second, other = start(person, *models), start(person, *models), start(person, *models, series="another")
    assert first.session == second.session != other.session
    assert start(make.visitor(), *models).session != first.session
    assert first.session.title == "Review of answers"


def test_statements_of_start_are_few(person: Actor):
    models = make.model(), make.model()
    start(person, *models)
    turns = two_turns(*models)
    with CaptureQueriesContext(connection) as queries:
        start_stored_battle(person, series="a-review", title="", team=None, turns=turns, models=models, propensity=1.0)
    assert len([query for query in queries if "SAVEPOINT" not in query["sql"]]) <= 2


def test_outsider_starts_no_battle_in_team(person: Actor):
    with pytest.raises(NotInTeam):
        start(person, make.model(), make.model(), team=make.team())


def test_vote_counts_in_series_alone(person: Actor):
    battle, sent = start(person, make.model(), make.model()), []
    vote_cast.connect(receiver := lambda vote, **_: sent.append(vote))
    vote = actions.cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    assert sent == [vote]
    assert (vote.mode, vote.series, vote.on_site_boards, vote.team_id) == ("review", "a-review", False, None)
    assert (vote.categories, vote.language, vote.prompt_digest, vote.excluded_reason) == ([], "und", "", "")
    assert vote.style["context"]["left"] == {"met": False, "reasoning": False, "first_token_ms": None}
    assert vote.style["left"]["tokens"] == 10
    assert not VoteNetwork.objects.exists()
    with pytest.raises(AlreadyVoted):
        actions.cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    vote_cast.disconnect(receiver)


def test_vote_in_team_is_of_team():
    team = make.team()
    Team.objects.update(counts_on_site_boards=True)
    owner = Actor(user=team.members.get().user, network="127.0.0.1")
    battle = start(owner, make.model(), make.model(), team=Team.objects.get())
    vote = actions.cast_vote(actor=owner, battle=battle, choice=Vote.Choice.LEFT)
    assert (vote.team, vote.on_site_boards, vote.team_categories) == (team, False, None)


def test_answer_that_names_its_model_excludes_vote(person: Actor):
    left, right = make.model(), make.model(name="Wombat 9")
    battle = make.stored_battle(left, right, actor=person, text="I am Wombat 9")
    vote = actions.cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    assert vote.excluded_reason == Vote.ExcludedReason.IDENTITY_LEAK


def test_last_consent_is_of_battle_that_asked(person: Actor, settings):
    settings.ARENA_PUBLISH_PROMPTS = True
    models = make.model(), make.model()
    asked = make.battle(*models, actor=person)
    Battle.objects.filter(pk=asked.pk).update(consent="version")
    start(person, *models)
    assert last_agreed_version(person) == "version"


def test_battle_takes_vote_and_nothing_else(person: Actor):
    battle = start(person, make.model(), make.model())
    for step in (
        lambda: actions.follow_up(actor=person, battle=battle, prompt="and?"),
        lambda: actions.publish(battle=battle),
    ):
        with pytest.raises(InAReview):
            step()
    with pytest.raises(NothingToRegenerate):
        actions.regenerate(actor=person, battle=battle)
    with pytest.raises(NothingToStop):
        actions.stop(battle=battle)


def test_votes_of_reviews_use_up_no_daily_cap(person: Actor, settings):
    settings.ARENA_DAILY_VOTES = {"person": 2, "network": 2}
    models = make.model(), make.model()
    for _ in range(3):
        vote = actions.cast_vote(actor=person, battle=start(person, *models), choice=Vote.Choice.LEFT)
        assert vote.excluded_reason == ""
    assert not daily_caps.is_reached(person)
    connection.check_constraints()
    assert not daily_caps.votes_over_cap(after=0, until=99).exists()


def test_votes_of_class_do_not_use_up_limit_of_network(settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("vote", "network"): "1/hour", ("vote", "visitor"): "2/hour"}
    people, models = [make.visitor(), make.visitor()], (make.model(), make.model())
    for person in people * 2:
        actions.cast_vote(actor=person, battle=start(person, *models), choice=Vote.Choice.LEFT)
    with pytest.raises(LimitReached):
        actions.cast_vote(actor=people[0], battle=start(people[0], *models), choice=Vote.Choice.LEFT)


@pytest.mark.parametrize(
    "change",
    [{"series": "another"}, {"series": ""}, {"mode": "blind"}, {"on_site_boards": True}],
    ids=lambda change: next(iter(change)),
)
def test_vote_of_review_stays_there(person: Actor, change: dict[str, object]):
    vote = actions.cast_vote(actor=person, battle=start(person, make.model(), make.model()), choice=Vote.Choice.LEFT)
    with pytest.raises(Exception, match=r"Cannot update|check constraint"), transaction.atomic():
        Vote.objects.filter(pk=vote.pk).update(**change)


def test_vote_names_review_of_its_battle():
    battle = make.answered_battle(make.model(), make.model())
    left, right = (side.model for side in battle.sides.order_by("position"))
    with pytest.raises(IntegrityError, match="a_vote_is_of_its_sessions_place"), transaction.atomic():
        Vote.objects.create(
            battle=battle,
            mode="review",
            series="a-review",
            on_site_boards=False,
            choice="left",
            model_left=left,
            model_right=right,
            turn_count=1,
            voter="user:1",
        )


@pytest.fixture
def file() -> Upload:
    return keep_upload(actor=make.visitor(), content=b"words of another", name="words.txt")


def test_file_of_review_is_shown_to_its_person(person: Actor, file: Upload):
    turns = [StoredTurn(turn.prompt, turn.answers, [file]) for turn in two_turns(make.model(), make.model())[:1]]
    models = tuple(answer.call.model for answer in turns[0].answers)
    battle = start_stored_battle(
        person, series="a-review", title="", team=None, turns=turns, models=models, propensity=1.0
    )
    browser, address = make.browser(person), f"/uploads/{file.public_id}"
    assert browser.get(f"{address}/text/").text == browser.get(f"/api/v1{address}/text/").text
    assert f'href="{address}/text/"' in browser.get(battle.get_absolute_url()).text
    for hidden in (f"{address}/", f"{address}/file/", f"{address}/delete/"):
        assert browser.get(hidden).status_code == 404
    assert make.browser(make.visitor()).get(f"{address}/text/").status_code == 404
    actions.delete_session(battle.session)
    assert browser.get(f"{address}/text/").status_code == 404
    file.refresh_from_db()
    assert file.deleted_at is None


def test_deleted_session_keeps_vote_and_call_without_person(person: Actor):
    battle = start(person, make.model(), make.model())
    vote = actions.cast_vote(actor=person, battle=battle, choice=Vote.Choice.LEFT)
    actions.delete_session(battle.session)
    vote.refresh_from_db()
    assert (vote.voter.partition(":")[0], vote.series) == ("deleted", "a-review")
    assert set(Answer.objects.values_list("text", "html")) == {("", "")}
    assert Call.objects.count() == 4
    assert start(person, make.model(), make.model()).session != battle.session


def test_members_data_have_their_review():
    member = make.member()
    start(member, make.model(name="Zebra"), make.model())
    text = json.dumps(collect_personal_data(member.user), default=str)
    assert "first prompt **one**" in text
    assert "Zebra" not in text
