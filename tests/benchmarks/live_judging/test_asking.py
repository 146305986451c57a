from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.actions import delete_account
from accounts.personal_data import collect_personal_data
from battles import actions as battle_actions
from battles.calls import CallResult
from battles.models import Battle, Call, Vote
from benchmarks.actions.deletion import delete_belongings
from benchmarks.live_judging import asking
from benchmarks.live_judging.asking import claim, requeue_abandoned, settle_orphaned, store
from benchmarks.live_judging.drawing import draw_votes, is_drawn
from benchmarks.models import LiveCall, LiveDraw, LiveJudge, LiveJudgement
from common.ids import new_public_id
from models_registry.models import LanguageModel, Price
from models_registry.providers import FailureCode
from tests import make
from tests.benchmarks.live_judging.factory import answered, claimed, judge_all, left_out, live_judge, voted
from tests.worlds.benchmarks import judged_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair() -> tuple[LanguageModel, LanguageModel]:
    return make.model(), make.model()


def paid_judge(**fields: object) -> LiveJudge:
    """Return a judge whose call reserves 0.01 dollars."""
    model = make.model(parameters={"max_tokens": 10})
    Price.objects.create(model=model, input_per_million=0, output_per_million=1000)
    return live_judge(model, **fields)


def test_battle_is_judged_in_both_orders(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    before = list(Vote.objects.values())
    battle = voted(*pair, Vote.Choice.RIGHT)
    votes = list(Vote.objects.values())
    assert judge_all() == 2
    judgements = LiveJudgement.objects.order_by("is_swapped")
    assert list(judgements.values_list("state", "label", "outcome", "draw__battle")) == [
        ("done", "A>B", 1.0, battle.pk), ("done", "B>A", 1.0, battle.pk)
    ]  # fmt: skip
    assert set(Call.objects.filter(purpose="judge").values_list("state", flat=True)) == {"done"}
    assert (before, list(Vote.objects.values())) == ([], votes)
    assert judge_all() == 0


def test_share_of_battles_is_drawn_by_the_keyed_hash(settings):
    ids = [new_public_id() for _ in range(4_000)]
    tenth = {each for each in ids if is_drawn(each, 10)}
    assert 330 <= len(tenth) <= 470
    assert tenth <= {each for each in ids if is_drawn(each, 20)}
    settings.SECRET_KEY = "another key"
    assert tenth != {each for each in ids if is_drawn(each, 10)}


def test_votes_are_drawn_once_and_from_the_first_number(pair: tuple[LanguageModel, LanguageModel]):
    earlier = voted(*pair)
    order = Vote.objects.get(battle=earlier).order
    live = live_judge(make.model(), first_order=order, last_order=order)
    later = voted(*pair)
    draw_votes()
    draw_votes()
    assert list(LiveDraw.objects.values_list("battle", "share")) == [(later.pk, Decimal(100))]
    LiveJudge.objects.filter(pk=live.pk).update(is_on=False)
    voted(*pair)
    draw_votes()
    assert LiveDraw.objects.count() == 1


def test_battles_that_may_not_be_read_are_left_out(pair: tuple[LanguageModel, LanguageModel]):
    judge = make.model(at="http://127.0.0.1:8/v1", organization="Acme")
    live_judge(judge)
    voted(*pair)  # its prompt went to other providers only
    released = voted(*pair)
    Battle.objects.filter(pk=released.pk).update(consent="some words")
    own = voted(make.model(organization="acme "), pair[1])
    hidden, excluded = (voted(judge_of_pair(judge), pair[1]) for _ in range(2))
    Battle.objects.filter(pk=hidden.pk).update(hidden_at=timezone.now())
    Vote.objects.filter(battle=excluded).update(excluded_reason="moderation")
    actor = make.member()
    voted(judge_of_pair(judge), pair[1], actor=actor, place=make.team(actor.user))
    draw_votes()
    assert left_out() == ["not_released", "", "own_family", "reported", "not_counted"]
    assert own.pk in LiveDraw.objects.values_list("battle", flat=True)
    assert LiveJudgement.objects.count() == 2


def judge_of_pair(judge: LanguageModel) -> LanguageModel:
    """Return another family's model at the judge's provider."""
    return make.model(provider=judge.provider)


def test_battle_hidden_meanwhile_is_not_sent(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    battle = voted(*pair)
    draw_votes()
    Battle.objects.filter(pk=battle.pk).update(hidden_at=timezone.now())
    assert claim() is None
    assert (left_out(), LiveJudgement.objects.count(), LiveCall.objects.count()) == (["reported"], 0, 0)


def test_no_judgement_of_a_teams_battle_is_stored(pair: tuple[LanguageModel, LanguageModel]):
    actor = make.member()
    battle = voted(*pair, actor=actor, place=make.team(actor.user))
    live = live_judge(make.model())
    draw = LiveDraw.objects.create(live_judge=live, battle=battle, share=100)
    with pytest.raises(DatabaseError, match="no_teams_battle_is_judged_live"), transaction.atomic():
        LiveJudgement.objects.create(draw=draw, is_swapped=False)


def test_answer_without_verdict_is_asked_for_once_more(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    voted(*pair)
    draw_votes()
    first = answered(claimed(), "The first one, surely.")
    assert (first.state, first.turn, first.attempt) == ("queued", 1, 0)
    LiveJudgement.objects.exclude(pk=first.pk).delete()
    again = claimed()
    assert [message["role"] for message in again.call.request.messages][-2:] == ["assistant", "user"]
    assert answered(again, "INCORRECT").state == "unparsed"


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
def test_answer_that_is_not_whole_has_no_verdict(
    pair: tuple[LanguageModel, LanguageModel], finish_reason: str
):  # fmt: skip
    live_judge(make.model())
    voted(*pair)
    draw_votes()
    cut = "The second one names the city.\nA"  # of "Answer B is better."
    first = answered(claimed(), cut, finish_reason=finish_reason)
    assert (first.state, first.turn, first.label, first.outcome) == ("queued", 1, "", None)
    LiveJudgement.objects.exclude(pk=first.pk).delete()
    again = answered(claimed(), cut, finish_reason=finish_reason)
    assert (again.state, again.label, again.outcome) == ("unparsed", "", None)


def test_killed_worker_loses_no_money_and_no_answer(pair: tuple[LanguageModel, LanguageModel]):
    paid_judge()
    voted(*pair)
    draw_votes()
    lost = claimed()
    assert answered(claimed()).state == "done"
    LiveJudgement.objects.filter(pk=lost.judgement_id).update(lease_until=timezone.now() - timedelta(seconds=1))
    requeue_abandoned()
    row = Call.objects.select_related("charge").get(pk=lost.call.row.pk)
    assert (row.state, row.charge.cost) == ("lost", row.charge.most)
    again = claimed()
    assert (again.judgement_id, again.fence) == (lost.judgement_id, lost.fence + 1)
    store(lost, CallResult(texts=['{"verdict": "B>A"}'], first_token_ms=1))  # of the former worker
    assert LiveJudgement.objects.get(pk=lost.judgement_id).state == "asking"
    assert answered(again).state == "done"
    assert claim() is None
    assert LiveCall.objects.count() == 3


def test_call_about_a_deleted_battle_is_settled(pair: tuple[LanguageModel, LanguageModel]):
    paid_judge()
    battle = voted(*pair)
    draw_votes()
    ended, lost = claimed(), claimed()
    battle_actions.delete_session(battle.session)
    store(ended, CallResult(texts=['{"verdict": "tie"}'], first_token_ms=1))
    settle_orphaned()
    assert Call.objects.get(pk=lost.call.row.pk).state == "running"
    Call.objects.filter(pk=lost.call.row.pk).update(lease_until=timezone.now())
    settle_orphaned()
    calls = Call.objects.filter(purpose="judge").order_by("pk").values_list("state", "charge__cost")
    assert [(state, cost is None) for state, cost in calls] == [("done", False), ("lost", False)]
    assert left_out() == ["deleted"]


@pytest.mark.parametrize(
    ("budgets", "reason"),
    [({"day_budget": "0.01"}, "day_budget"), ({"month_budget": "0.01", "day_budget": "9"}, "month_budget")],
    ids=["day", "month"],
)
def test_budget_used_up_lets_the_judge_wait(
    pair: tuple[LanguageModel, LanguageModel], budgets: dict[str, str], reason: str
):
    live = paid_judge(**{name: Decimal(amount) for name, amount in budgets.items()})
    voted(*pair)
    draw_votes()
    claimed()
    assert claim() is None
    live.refresh_from_db()
    assert (live.waits_for, live.waits_until > timezone.now()) == (reason, True)  # type: ignore[operator]
    assert LiveJudgement.objects.due().count() == 0


def test_failure_is_tried_again_and_lets_the_judge_wait(pair: tuple[LanguageModel, LanguageModel]):
    live = live_judge(make.model())
    voted(*pair)
    draw_votes()
    found = claimed()
    store(found, CallResult(error=FailureCode.REFUSED_KEY))
    row = LiveJudgement.objects.get(pk=found.judgement_id)
    live.refresh_from_db()
    assert (row.state, row.error, live.waits_for) == ("queued", "refused_key", "model_away")
    LiveJudge.objects.update(waits_until=None)
    LiveJudgement.objects.update(due_at=timezone.now(), attempt=LiveJudgement.MAX_ATTEMPTS - 1)
    last = claimed()
    store(last, CallResult(error=FailureCode.CUT))
    assert LiveJudgement.objects.get(pk=last.judgement_id).state == "failed"


def test_only_so_many_questions_are_asked_at_once(
    pair: tuple[LanguageModel, LanguageModel], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(asking, "MAX_AT_ONCE", 1)
    live_judge(make.model())
    voted(*pair)
    draw_votes()
    claimed()
    assert claim() is None


def test_judgements_are_the_persons_and_go_with_the_battle(pair: tuple[LanguageModel, LanguageModel]):
    live_judge(make.model())
    actor = make.member()
    battle = voted(*pair, actor=actor)
    judge_all()
    assert actor.user is not None
    exported = collect_personal_data(actor.user)["battle_judgements"]
    assert [(row["battle"], row["outcome"], row["first_shown"]) for row in exported] == [  # type: ignore[index]
        (battle.public_id, 1.0, "left"), (battle.public_id, 1.0, "right")
    ]  # fmt: skip
    battle_actions.delete_session(battle.session)
    assert (LiveJudgement.objects.count(), left_out(), LiveCall.objects.count()) == (0, ["deleted"], 2)
    delete_account(actor.user)


def test_judge_in_use_outlives_its_maker():
    owner = make.user()
    live = live_judge(make.model(), owner=owner)
    spare = judged_runs.judge(make.model(), owner)
    delete_belongings(owner.pk)
    assert list(type(spare).objects.values_list("pk", flat=True)) == [live.judge_id]
