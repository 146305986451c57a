"""Only the arena's and a model's own refused values are remembered, and only what a neutral probe confirms."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEntry
from battles.models import Answer, Call
from battles.sweep import wake_due_questions
from battles.worker.runner import Engine
from common.valkey.connections import connection
from models_registry.models import LanguageModel, RequestRepair
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)


class Battles:
    def __init__(self, engine: Engine, fake_provider: FakeProvider) -> None:
        self.engine, self.at, self.fake = engine, fake_provider.base_url, fake_provider
        self.other = make.model("honest", at=self.at)

    def model(self, name: str, **fields: Any) -> LanguageModel:
        return make.model(name, at=self.at, **fields)

    def answer(self, model: LanguageModel, prompt: str = "one two") -> str:
        """Return the error of the model's side."""
        battle = make.battle(self.other, model, prompt=prompt)
        battle.sides.update(chosen=True)
        turn = battle.turns.get()
        self.engine.answer(turn.pk)
        return Answer.objects.get(turn=turn, side__model=model).error

    def check(self) -> RequestRepair:
        row = RequestRepair.objects.get()
        self.engine.check_repair(row.pk)
        row.refresh_from_db()
        return row

    def requests_for_one_answer(self, model: LanguageModel) -> int:
        before = self.fake.calls[model.upstream_name]
        assert self.answer(model) == ""
        return self.fake.calls[model.upstream_name] - before


@pytest.fixture
def battles(engine: Engine, fake_provider: FakeProvider) -> Battles:
    return Battles(engine, fake_provider)


@pytest.mark.parametrize(
    ("name", "fields", "repair"),
    [
        ("picky-max_tokens", {}, "max_tokens → max_completion_tokens"),
        ("picky-stream_options", {}, "-stream_options"),
        ("picky-system", {"system_prompt": "Be brief."}, "system → user"),
        ("picky-cap", {"parameters": {"max_tokens": 500}}, "max_tokens ≤ 300"),
    ],
)
def test_confirmed_repair_of_own_value_is_remembered(battles: Battles, name: str, fields: dict[str, Any], repair: str):
    model = battles.model(name, **fields)
    assert battles.requests_for_one_answer(model) == 2
    row = battles.check()
    assert (row.repair, row.state) == (repair, "confirmed")
    assert timedelta(hours=23) < row.expires_at - timezone.now() <= timedelta(days=1)
    assert battles.requests_for_one_answer(model) == 1
    RequestRepair.objects.get().delete()
    assert battles.requests_for_one_answer(model) == 2


def test_repair_that_a_probe_does_not_show_is_forgotten(battles: Battles):
    model = battles.model("picky-stream_options")
    battles.answer(model)
    LanguageModel.objects.filter(pk=model.pk).update(upstream_name="honest-again")
    row = battles.check()
    assert row.state == "refuted"
    assert battles.requests_for_one_answer(LanguageModel.objects.get(pk=model.pk)) == 1


def test_repair_expires_and_is_checked_again(battles: Battles):
    model = battles.model("picky-stream_options")
    battles.answer(model)
    row = battles.check()
    row.expires_at = timezone.now() - timedelta(seconds=1)
    row.save()
    assert battles.requests_for_one_answer(model) == 2
    row.refresh_from_db()
    assert (row.state, row.expires_at) == ("suspected", None)
    wake_due_questions()
    assert connection().llen("answers") >= 1


def test_own_sampling_parameter_stops_battles_until_allowed(battles: Battles, admin_client: Client):
    model = battles.model("picky-temperature", parameters={"temperature": 0.7})
    assert battles.answer(model) == "unsupported", "without it, this is another contestant"
    assert (battles.check().repair, RequestRepair.objects.get().state) == ("-temperature", "confirmed")
    assert battles.answer(model) == "unsupported"
    dashboard = admin_client.get("/admin/", headers={"accept-language": "fr"}).content.decode()
    assert "refuse « temperature »" in dashboard.replace("\N{NO-BREAK SPACE}", " ").replace("&nbsp;", " ")
    listed = admin_client.get("/admin/models_registry/requestrepair/").content.decode()
    assert "this is another contestant" in listed
    admin_client.post(
        "/admin/models_registry/requestrepair/",
        {"action": "let_battles_go_on", "_selected_action": [RequestRepair.objects.get().pk]},
    )
    assert RequestRepair.objects.values_list("battles_go_on", "expires_at").get() == (True, None)
    assert battles.requests_for_one_answer(model) == 1
    assert AuditEntry.objects.filter(action="change request repair").count() == 1


def test_own_parameter_is_known_by_its_name_of_the_dialect(battles: Battles):
    model = battles.model("picky-repetition_penalty", parameters={"repeat_penalty": 1.1})
    model.provider.kind = "vllm"
    model.provider.save()
    assert battles.answer(model) == "unsupported"
    assert battles.check().changes_contestant


def test_setting_by_hand_applies_at_once(battles: Battles, admin_client: Client):
    model = battles.model("picky-max_tokens")
    form = {"model": model.pk, "repair": "max_tokens → max_completion_tokens"}
    assert admin_client.post("/admin/models_registry/requestrepair/add/", form).status_code == 302
    assert battles.requests_for_one_answer(model) == 1
    assert (
        admin_client.post("/admin/models_registry/requestrepair/add/", {**form, "repair": "-max_tokens"}).status_code
        == 200
    )
    assert RequestRepair.objects.count() == 1


def test_probe_of_repair_is_a_call_of_the_log(battles: Battles):
    battles.answer(battles.model("picky-stream_options"))
    battles.check()
    assert list(Call.objects.filter(purpose="probe").values_list("state", flat=True)) == ["done"]
    battles.engine.check_repair(RequestRepair.objects.get().pk)
    assert Call.objects.filter(purpose="probe").count() == 1
