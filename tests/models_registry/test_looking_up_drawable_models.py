"""Who may be drawn is looked up once for a crowd, and no change of this process is missed."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from models_registry import roster
from models_registry.models import LanguageModel
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _an_hour_is_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "FRESH_FOR_S", 3600.0)


def test_a_crowd_looks_up_the_models_once():
    ada, bert = make.model("ada"), make.model("bert")
    assert roster.drawable() == [ada, bert]
    with CaptureQueriesContext(connection) as queries:
        assert [roster.drawable() for _ in range(10)] == [[ada, bert]] * 10
    assert len(queries) == 0


def test_a_model_paused_by_this_process_is_not_drawn_again():
    ada, bert = make.model("ada"), make.model("bert")
    assert roster.drawable() == [ada, bert]
    bert.status = LanguageModel.Status.PAUSED
    bert.save()
    assert roster.drawable() == [ada]


def test_what_was_looked_up_while_a_change_was_being_made_is_forgotten_when_it_is_made():
    ada, bert = make.model("ada"), make.model("bert")
    with transaction.atomic():
        bert.status = LanguageModel.Status.PAUSED
        bert.save()
        roster._known, roster._known_until = [ada, bert], float("inf")  # another request, which cannot see it yet
    assert roster.drawable() == [ada]


def test_after_a_second_the_changes_of_other_processes_show(monkeypatch: pytest.MonkeyPatch):
    ada, bert = make.model("ada"), make.model("bert")
    assert roster.drawable() == [ada, bert]
    LanguageModel.objects.filter(pk=bert.pk).update(status=LanguageModel.Status.PAUSED)  # sends no signal
    assert roster.drawable() == [ada, bert]
    monkeypatch.setattr(roster, "_known_until", 0.0)
    assert roster.drawable() == [ada]
