import pytest
from django.test import Client

from accounts.models import AuditEntry
from battles import actions
from battles.models import Battle
from battles.prompting.lineup import BattleRequest
from common.errors import TooManyRequests
from models_registry.models import LanguageModel, ModelLimit
from models_registry.versions import revise
from tests import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> LanguageModel:
    model = make.model(name="Ada 100%")
    ModelLimit.objects.create(model=model, rate="2/hour")
    return model


def chat(person: Client, model: LanguageModel) -> dict:
    body = {"prompt": "hello", "mode": "direct", "models": [model.slug]}
    response = person.post("/api/v1/sessions/", body, "application/json")
    return {"status": response.status_code, **response.json(), "headers": response.headers}


def test_all_people_share_the_limit_of_a_chosen_model(model: LanguageModel):
    people = [make.browser(make.visitor()) for _ in range(3)]
    assert [chat(person, model)["status"] for person in people] == [201, 201, 429]
    refused = chat(people[2], model)
    sentence = "Ada 100% has reached its limit of 2 prompts in 1 hour. Choose another model, or wait."
    assert (refused["code"], refused["detail"].replace("\xa0", " ")) == ("rate_limited", sentence)
    assert '"model-hour";r=0' in refused["headers"]["RateLimit"]
    assert chat(people[2], make.model())["status"] == 201


def test_refused_model_uses_nothing_of_the_person(model: LanguageModel, settings):
    settings.ARENA_LIMITS = settings.ARENA_LIMITS | {("battle", "visitor"): "3/hour"}
    person = make.browser(make.visitor())
    assert [chat(person, model)["status"] for _ in range(5)] == [201, 201, 429, 429, 429]
    assert [chat(person, make.model())["status"] for _ in range(2)] == [201, 429]


def test_follow_ups_are_counted_unless_the_model_was_drawn(model: LanguageModel):
    actor = make.member()
    chosen = actions.start_session(
        actor=actor, prompt="hello", battle_request=BattleRequest(Battle.Mode.DIRECT, (model.slug,))
    )
    drawn = make.answered_battle(model, make.model(), actor=actor)
    make.turn(chosen)
    chosen.turns.update(state="done")
    for battle, allowed in ((drawn, 3), (chosen, 1)):
        for _ in range(allowed):
            actions.follow_up(actor=actor, battle=battle, prompt="more")
            battle.turns.update(state="done")
    with pytest.raises(TooManyRequests):
        actions.follow_up(actor=actor, battle=chosen, prompt="more")


def test_limit_holds_for_new_versions_and_is_refused_in_words(model: LanguageModel, client: Client, administrator):
    person = make.browser(make.visitor())
    assert [chat(person, model)["status"] for _ in range(2)] == [201, 201]
    LanguageModel.objects.update(has_votes=True)
    newer = revise(model.pk, {"parameters": {"max_tokens": 7}})
    assert chat(person, newer)["status"] == 429
    client.force_login(administrator)
    page = client.post("/admin/models_registry/modellimit/add/", {"model": newer.pk, "rate": "often"})
    assert "“often” is no limit." in page.text
    assert "2/hour" in client.get("/admin/accounts/limit/").text
    client.post("/admin/models_registry/modellimit/add/", {"model": newer.pk, "rate": "3/hour"})
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.details["rate"]) == ("add model limit", "3/hour")
