"""A breaker opens only if a neutral question fails, too, or if no person had an answer."""

import random
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts.actor import Actor
from battles.models import Answer, Battle, Call, Position, Session, Side, Turn
from battles.sweep import wake_due_questions
from battles.worker.runner import Engine
from common.valkey.connections import connection
from models_registry.health import outcomes
from models_registry.models import Breaker, Inquiry, LanguageModel
from models_registry.models.availability import Availability
from models_registry.providers import FailureCode
from models_registry.spending import halt_paid_calls
from models_registry.versions import set_price
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)


class Asking:
    """People's conversations with one model; a question that becomes due is asked at once, as by a worker."""

    def __init__(self, engine: Engine, fake_provider: FakeProvider) -> None:
        self.engine, self.base_url = engine, fake_provider.base_url

    def model(self, name: str, **fields: object) -> LanguageModel:
        return make.model(name, at=self.base_url, **fields)

    def begin(self, model: LanguageModel, prompt: str, actor: Actor | None) -> Turn:
        actor = actor or make.visitor()
        session = Session.objects.create(owner_user=actor.user, owner_visitor=actor.visitor, title=prompt)
        battle = Battle.objects.create(session=session, propensity=1.0, mode=Battle.Mode.DIRECT)
        Side.objects.create(battle=battle, position=Position.LEFT, model=model, chosen=True)
        return make.turn(battle, prompt=prompt)

    def converse(self, model: LanguageModel, prompt: str, actor: Actor | None = None) -> str:
        """Return the answer's error."""
        turn = self.begin(model, prompt, actor)
        self.engine.answer(turn.pk)
        self.ask_due()
        return Answer.objects.get(turn=turn).error

    def ask_due(self) -> None:
        for pk in list(Inquiry.objects.due().values_list("pk", flat=True)):
            self.engine.probe(pk)


@pytest.fixture
def asking(engine: Engine, fake_provider: FakeProvider) -> Asking:
    return Asking(engine, fake_provider)


def questions() -> list[str]:
    return list(Call.objects.filter(purpose="probe").order_by("pk").values_list("state", flat=True))


def drawable(model: LanguageModel) -> bool:
    return model in LanguageModel.objects.drawable()


def test_answered_question_keeps_model_drawable(asking: Asking):
    model, person = asking.model("judges"), make.member()
    codes = [asking.converse(model, "bad prompt", person) for _ in range(8)]
    assert codes == ["rejected"] * 8
    assert questions() == ["done"], "the person whose failures were cleared starts no further one"
    assert drawable(model)
    inquiry = Inquiry.objects.get()
    assert (inquiry.cleared, inquiry.due_at) == (1, None)


def test_question_has_models_own_system_prompt(asking: Asking, fake_provider: FakeProvider):
    model = asking.model("judges", system_prompt="Be brief.", parameters={"temperature": 0.3})
    thinker = asking.model("judges", parameters={"reasoning_effort": "low"})
    for asked_model in (model, thinker):
        for _ in range(5):
            asking.converse(asked_model, "bad prompt")
    [first, second] = [body for body in fake_provider.requests if "Reply with OK." in str(body["messages"])]
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert (first["temperature"], first["max_tokens"], second["max_tokens"]) == (0.3, 16, 512)


@pytest.mark.parametrize("name", ["html", "malformed", "status-500", "status-400", "status-403", "empty"])
def test_repeated_failure_closes_model(asking: Asking, name: str):
    model = asking.model(name)
    for _ in range(5):
        asking.converse(model, "hello")
    assert not drawable(model)
    assert Inquiry.objects.get().cause == "question"
    assert Breaker.objects.get().reason == ("refused_key" if name == "status-403" else Call.objects.first().error)


@pytest.mark.parametrize("name", ["status-401", "status-402", "status-503", "later-3600"])
def test_outage_closes_model_without_question(asking: Asking, name: str):
    model = asking.model(name)
    for _ in range(3):
        asking.converse(model, "hello")
    assert not drawable(model)
    assert questions() == []


def test_refused_connection_closes_provider_at_once(asking: Asking):
    model = make.model()
    for _ in range(3):
        assert asking.converse(model, "hello") == "unreachable"
    assert not drawable(model)
    assert (questions(), Breaker.objects.get().provider) == ([], model.provider)


@pytest.mark.parametrize("name", ["only-thoughts", "length-alone"])
def test_any_well_formed_reply_answers_the_question(asking: Asking, name: str):
    model = asking.model(name)
    for _ in range(5):
        asking.converse(model, "hello")
    assert drawable(model)
    assert Inquiry.objects.get().cleared == 1


def test_question_that_cannot_be_paid_leaves_todays_rule(asking: Asking):
    model = asking.model("html")
    for _ in range(2):
        asking.converse(model, "hello")
    set_price(model, 1, 1)
    model.refresh_from_db()
    Inquiry.objects.update(failures=[])
    Breaker.objects.update(recent="xxx")
    Inquiry.objects.update(due_at=timezone.now(), asked_model=model)
    halt_paid_calls(by=make.user())
    asking.ask_due()
    assert questions() == []
    assert Inquiry.objects.get().cause == "not_asked"
    assert Breaker.objects.get().probe_at is not None


def test_at_most_one_question_a_minute(asking: Asking):
    model = asking.model("judges")
    for _ in range(5):
        asking.converse(model, "bad prompt")
    for _ in range(8):
        asking.converse(model, "bad prompt")
    assert len(questions()) == 1
    inquiry = Inquiry.objects.get()
    assert inquiry.due_at is None or inquiry.due_at > timezone.now() + timedelta(seconds=20)


def test_waiting_question_is_woken_by_the_sweeper(asking: Asking):
    model = asking.model("html")
    for _ in range(2):
        asking.converse(model, "hello")
    Inquiry.objects.update(due_at=timezone.now() + timedelta(seconds=30), asked_model=model)
    wake_due_questions()
    assert connection().llen("answers") == 0
    Inquiry.objects.update(due_at=timezone.now())
    wake_due_questions()
    assert connection().llen("answers") == 1


def test_real_answer_cancels_a_waiting_question(asking: Asking, fake_provider: FakeProvider):
    model = asking.model("judges")
    asking.converse(model, "bad prompt")
    Inquiry.objects.update(due_at=timezone.now() + timedelta(seconds=30), asked_model=model)
    asking.converse(model, "good prompt")
    inquiry = Inquiry.objects.get()
    assert (inquiry.due_at, inquiry.failures) == (None, [])


def test_model_that_only_answers_questions_is_out_after_ten(asking: Asking):
    model, people = asking.model("hypocrite"), [make.member() for _ in range(4)]
    for number in range(9):
        asking.converse(model, "hello", people[number % 4])
    assert drawable(model)
    asking.converse(model, "hello", people[0])
    assert not drawable(model)
    assert (Inquiry.objects.get().cause, Breaker.objects.get().recent) == ("people", "p")
    # Answered probes do not bring it back: people's calls at the lowest weight do.
    Breaker.objects.update(probe_at=timezone.now() - timedelta(seconds=1))
    assert not Breaker.objects.due().exists()
    [tried] = LanguageModel.objects.drawable()
    assert tried.weight == pytest.approx(0.05)
    asking.converse(model, "hello", people[1])
    assert not drawable(model), "a failed try prolongs it"
    Breaker.objects.update(probe_at=timezone.now() - timedelta(seconds=1))
    LanguageModel.objects.filter(pk=model.pk).update(upstream_name="honest")
    asking.converse(LanguageModel.objects.get(pk=model.pk), "hello", people[2])
    assert Breaker.objects.values_list("recent", "probe_at", "openings").get() == ("", None, 0)
    assert [one.weight for one in LanguageModel.objects.drawable()] == [1]


@pytest.mark.parametrize(("active", "is_out"), [(1, True), (2, False), (3, False)])
def test_one_person_closes_a_model_only_alone(asking: Asking, active: int, is_out: bool):
    model, person = asking.model("hypocrite"), make.member()
    for _ in range(active - 1):
        asking.begin(model, "hello", make.member())
    for _ in range(12):
        asking.converse(model, "hello", person)
    assert drawable(model) is not is_out


def test_gateway_failures_count_only_among_people():
    model = make.model()
    for number in range(9):
        origin = outcomes.Origin(f"user:{number % 3}", f"gateway:{number}", is_callers=True)
        outcomes_of(model, origin)
    assert drawable(model)
    assert Inquiry.objects.get().due_at is None
    outcomes_of(model, outcomes.Origin("user:1", "gateway:10", is_callers=True))
    assert not drawable(model)


def outcomes_of(model: LanguageModel, origin: outcomes.Origin) -> None:
    with transaction.atomic():
        outcomes.record_outcome(model, FailureCode.REJECTED, origin=origin)


def test_dashboard_says_what_closed_and_why(asking: Asking, admin_client: Client):
    broken, cleared, gone = asking.model("html"), asking.model("judges"), asking.model("hypocrite")
    for _ in range(5):
        asking.converse(broken, "hello")
        asking.converse(cleared, "bad prompt")
    for _ in range(10):
        asking.converse(gone, "hello")
    page = admin_client.get("/admin/").content.decode()
    assert "a neutral question failed, too" in page
    assert "1 neutral question was answered: the failures belonged to their prompts." in page
    assert "ten conversations of several people had no answer" in page
    french = admin_client.get("/admin/", headers={"accept-language": "fr"}).content.decode()
    assert "une question neutre a échoué aussi" in french


def test_people_are_stored_as_digests(asking: Asking):
    person = make.member()
    asking.converse(asking.model("html"), "hello", person)
    [[conversation, digest, code]] = Inquiry.objects.get().failures
    assert conversation.startswith("battle:")
    assert (len(digest), code) == (12, "not_a_stream")


@pytest.mark.slow
def test_five_hundred_mixed_calls_close_no_good_model(asking: Asking):
    """One person sends long, odd and filtered prompts among the good ones of others."""
    chance = random.Random(5)
    models = [asking.model("judges", slug=f"judge-{number}") for number in range(3)]
    troublemaker, others = make.member(), [make.member() for _ in range(5)]
    prompts = ["too long prompt", "bad prompt", "filtered prompt", "empty prompt", "crash prompt", "forbidden prompt"]
    codes = set()
    for number in range(500):
        model = models[number % 3]
        if chance.random() < 0.5:
            codes.add(asking.converse(model, chance.choice(prompts), troublemaker))
        else:
            assert asking.converse(model, "good prompt", chance.choice(others)) == ""
        if number % 50 == 49:  # the next hour
            Inquiry.objects.update(cleared_people={}, asked_at=timezone.now() - timedelta(hours=1))
    assert codes == {"prompt_too_long", "rejected", "filtered", "empty", "provider_error", "forbidden"}
    assert all(map(drawable, models))
    assert not Breaker.objects.open().exists()
    assert Availability(models).unavailable_reason(models[0]) == ""
    assert "failed" not in questions()
