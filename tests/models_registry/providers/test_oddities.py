"""Oddities by model, as operators see them."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from models_registry.health import oddities
from models_registry.health.oddities import SeenOddity
from models_registry.health.oddity_messages import ODDITY_MESSAGES
from models_registry.providers.oddities import Oddity
from tests import make


@pytest.fixture(autouse=True)
def _no_counts(db: None):
    oddities._pending.clear()


def test_oddities_are_counted_by_model_and_kind():
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    for model in (7, 7, 8):
        oddities.record(model, {Oddity.HEARTBEAT}, is_late=False)
        oddities.flush()
    oddities.record(7, {Oddity.NO_USAGE, Oddity.HEARTBEAT}, is_late=False)
    oddities.flush()
    assert sorted(oddities.read(now=hour), key=str) == [
        SeenOddity(7, Oddity.HEARTBEAT, 3, hour),
        SeenOddity(7, Oddity.NO_USAGE, 1, hour),
        SeenOddity(8, Oddity.HEARTBEAT, 1, hour),
    ]


def test_oddities_of_battles_are_shown_an_hour_late():
    before = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    oddities.record(7, {Oddity.HEARTBEAT}, is_late=True)
    [(hour, _)] = oddities._pending
    oddities.flush()
    assert before <= hour
    assert oddities.read(now=hour + timedelta(minutes=119)) == []
    assert oddities.read(now=hour + timedelta(minutes=120)) == [SeenOddity(7, Oddity.HEARTBEAT, 1, hour)]


def test_page_of_a_model_says_what_its_server_sends(admin_client: Client):
    model, other = make.model(), make.model()
    oddities.record(model.pk, {Oddity.COMPRESSED}, is_late=False)
    oddities.record(other.pk, {Oddity.NO_USAGE}, is_late=False)
    oddities.flush()
    page = admin_client.get(f"/admin/models_registry/languagemodel/{model.pk}/change/").content.decode()
    assert "It compresses answers unasked" in page
    assert "It reports no tokens" not in page


def test_every_oddity_has_a_sentence():
    assert set(ODDITY_MESSAGES) == set(Oddity)
