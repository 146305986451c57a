"""Energy of models and answers: whose sizes are used, and where figures are shown."""

import csv
import re
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from battles import actions
from battles.models import Answer, Battle, Vote
from battles.payloads import battle_payload
from battles.queries import get_battle
from models_registry import versions
from models_registry.energy.estimates import energy_of_model, estimate
from models_registry.models import LanguageModel
from models_registry.profiles import Profile, change_profile, profile_of
from tests import make
from tests.leaderboard.tally_checks import aggregate
from tests.leaderboard.vote_factory import cast_many
from tests.models_registry.test_model_admin import model_form, page_of
from tests.pages import compact

pytestmark = pytest.mark.django_db

HOSTED, OWN = "https://api.example.com/v1", "http://127.0.0.1:9/v1"
KNOWN, UNKNOWN = "gpt-4o-mini", "enigma-1"


def wh_of(model: LanguageModel) -> list[float] | None:
    energy = energy_of_model(model)
    return None if energy is None else [energy["wh_low"], energy["wh_high"]]


def test_hosted_model_is_known_by_name_and_own_by_parameters():
    hosted, own = make.model(KNOWN, at=HOSTED), make.model(KNOWN, at=OWN)
    low, high = wh_of(hosted) or (0, 0)
    assert 0 < low < high
    assert wh_of(own) is None
    change_profile(own.pk, Profile(energy_name=KNOWN))
    assert wh_of(own) == [low, high]
    change_profile(own.pk, Profile(energy_name=KNOWN, active_b=Decimal(400)))
    assert (wh_of(own) or [0])[0] > high


def test_hidden_setup_has_figures_by_entered_parameters_only():
    model = make.model(KNOWN, at=HOSTED)
    for profile in (Profile(hides_setup=True), Profile(hides_setup=True, energy_name=KNOWN)):
        change_profile(model.pk, profile)
        assert wh_of(model) is None
    change_profile(model.pk, Profile(hides_setup=True, active_b=Decimal(8)))
    assert wh_of(model) is not None


def test_total_parameters_are_at_least_the_active_ones():
    alone, larger, smaller = (make.model(UNKNOWN, size_b=size) for size in (None, Decimal(400), Decimal(1)))
    for model in (alone, larger, smaller):
        change_profile(model.pk, Profile(active_b=Decimal(12)))
    assert wh_of(smaller) == wh_of(alone)
    assert (wh_of(larger) or [0])[0] > (wh_of(alone) or [0])[0]


@pytest.mark.parametrize(("tokens", "total_ms"), [(None, 900), (0, 900), (None, None)])
def test_answer_without_tokens_has_no_energy(tokens: int | None, total_ms: int | None):
    assert estimate(make.model(KNOWN, at=HOSTED), tokens, total_ms) is None


def test_new_version_keeps_entered_parameters():
    model = make.model(UNKNOWN, has_votes=True)
    change_profile(model.pk, Profile(active_b=Decimal(8), energy_name=KNOWN))
    successor = versions.revise(model.pk, {"system_prompt": "Be brief."})
    assert profile_of(successor.pk) == Profile(active_b=Decimal(8), energy_name=KNOWN)


def battle_with_calls(left: LanguageModel, right: LanguageModel, **owner: Any) -> Battle:
    battle = make.answered_battle(left, right, **owner)
    for answer in Answer.objects.filter(turn__battle=battle).select_related("side__model"):
        answer.call = make.stored_call(answer.side.model, completion_tokens=500, total_ms=20_000)
        answer.save()
    return battle


def test_energy_is_in_payload_and_page_after_vote_only(client: Client):
    actor = make.member()
    client.force_login(actor.user)
    battle = battle_with_calls(make.model(KNOWN, at=HOSTED), make.model(UNKNOWN, at=HOSTED), actor=actor)
    address = battle.session.get_absolute_url()
    api = f"/api/v1/battles/{battle.public_id}/"
    for before in (client.get(address).text, client.get(api).text):
        assert not re.search(r"energy|Wh\b|CO₂", before)
    actions.cast_vote(actor=actor, battle=battle, choice=Vote.Choice.LEFT)
    known, unknown = (answer["energy"] for answer in client.get(api).json()["turns"][0]["answers"])
    assert unknown is None
    assert 0 < known["wh_low"] < known["wh_high"]
    assert 0 < known["co2e_g_low"] < known["co2e_g_high"]
    page = compact(client.get(address).text)
    assert len(re.findall(r"<dt>Estimated energy</dt>", page)) == 1
    assert re.search(r'href="/leaderboard/method/#energy">\s*[\d.]+–[\d.]+\s*Wh', page)
    assert 'id="energy"' in client.get("/leaderboard/method/").text


def test_answers_of_another_run_have_no_energy():
    voted = make.stored_battle(make.model(KNOWN, at=HOSTED), make.model(KNOWN, at=HOSTED))
    vote = actions.cast_vote(actor=make.visitor(), battle=voted, choice=Vote.Choice.TIE)
    answers = battle_payload(get_battle(vote.battle.pk))["turns"][0]["answers"]
    assert [answer.get("energy") for answer in answers] == [None, None]


def test_board_has_energy_where_a_size_is_known(client: Client):
    gold, silver = (make.model(name, at=HOSTED, slug=name, name=name) for name in ("gold", "silver"))
    cast_many(gold, silver, left=12, right=8)
    aggregate()
    assert 'data-column="energy"' not in client.get("/leaderboard/").text
    change_profile(gold.pk, Profile(active_b=Decimal(70)))
    assert 'data-column="energy"' in client.get("/leaderboard/").text
    lines = {line["model"]["id"]: line["model"] for line in client.get("/api/v1/leaderboard/").json()["results"]}
    assert lines["silver"]["energy"] is None
    table = csv.DictReader(client.get("/leaderboard/?format=csv&sort_by=energy&order=asc").text.splitlines())
    first, second = table
    energy = lines["gold"]["energy"]
    assert (first["model"], float(first["energy_wh_low"]), float(first["co2e_g_high"])) == (
        "gold", energy["wh_low"], energy["co2e_g_high"],
    )  # fmt: skip
    assert (second["model"], second["energy_wh_low"], second["co2e_g_low"]) == ("silver", "", "")
    assert "Estimated energy per 1,000 tokens" in client.get(reverse("leaderboard:model", args=["gold"])).text


def test_administrators_enter_parameters_or_a_known_name(client: Client):
    client.force_login(make.user("admin@example.org", is_staff=True, is_superuser=True))
    model = make.model(UNKNOWN)
    page = page_of(model)
    refused = client.post(page, model_form(model, energy_name="no-such-model", active_b="-1"))
    errors = refused.context["adminform"].form.errors
    assert set(errors) == {"energy_name", "active_b"}
    client.post(page, model_form(model, energy_name=KNOWN, active_b="7.5"))
    assert profile_of(model.pk) == Profile(energy_name=KNOWN, active_b=Decimal("7.5"))
    client.post(page, model_form(model))
    assert profile_of(model.pk) == Profile()
