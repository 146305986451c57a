import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from models_registry import drawable_cache
from models_registry.models import LanguageModel
from tests import make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _long_ttl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawable_cache.cached_roster, "ttl_s", 3600)


def test_roster_is_loaded_once():
    ada, bert = make.model("ada"), make.model("bert")
    assert drawable_cache.cached_roster().drawable == [ada, bert]
    with CaptureQueriesContext(connection) as queries:
        assert [drawable_cache.cached_roster().drawable for _ in range(10)] == [[ada, bert]] * 10
    assert len(queries) == 0


def test_model_paused_by_this_process_leaves_the_roster():
    ada, bert = make.model("ada"), make.model("bert")
    assert drawable_cache.cached_roster().drawable == [ada, bert]
    bert.status = LanguageModel.Status.PAUSED
    bert.save()
    assert drawable_cache.cached_roster().drawable == [ada]
