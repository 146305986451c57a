from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from django.db import connection

from models_registry.models import LanguageModel, Price
from models_registry.versions import revise, set_price
from tests import make

pytestmark = pytest.mark.django_db


def test_new_version_inherits_unchanged_fields():
    old = make.model(slug="gpt", aliases=["chatty"], weight=0.5, parameters={"temperature": 1}, has_votes=True)
    set_price(old, Decimal("0.5"), Decimal(2))
    new = revise(old.pk, {"parameters": {"temperature": 0}})
    old.refresh_from_db()
    assert (old.status, old.parameters) == ("retired", {"temperature": 1})
    assert (new.slug, new.family, new.version, new.status, new.has_votes) == ("gpt-v2", "gpt", 2, "active", False)
    assert (new.name, new.aliases, new.weight, new.provider_id) == (old.name, ["chatty"], 0.5, old.provider_id)
    assert (new.price.input_per_million, new.price.output_per_million) == (Decimal("0.5"), Decimal(2))


@pytest.mark.parametrize(
    "change", [{"upstream_name": "x"}, {"system_prompt": "x"}, {"parameters": {"seed": 1}}, {"provider_id": None}]
)
def test_each_behaviour_change_with_votes_makes_version(change: dict[str, object]):
    if "provider_id" in change:
        change = {"provider_id": make.provider("http://127.0.0.1:10/v1").pk}
    unvoted, voted = make.model(), make.model(has_votes=True)
    assert revise(unvoted.pk, change).pk == unvoted.pk
    assert revise(voted.pk, change).version == 2


def test_saving_equal_values_makes_no_version():
    model = make.model(parameters={"temperature": 1}, has_votes=True)
    assert revise(model.pk, {"parameters": {"temperature": 1.0}, "system_prompt": ""}).pk == model.pk


def test_third_version_follows_second():
    model = make.model(slug="gpt", has_votes=True)
    second = revise(model.pk, {"system_prompt": "two"})
    LanguageModel.objects.filter(pk=second.pk).update(has_votes=True)
    assert revise(second.pk, {"system_prompt": "three"}).slug == "gpt-v3"


def test_version_skips_slug_of_another_family():
    make.model(slug="deepseek-v2")
    model = make.model(slug="deepseek", has_votes=True)
    assert revise(model.pk, {"system_prompt": "two"}).slug == "deepseek-v3"


def test_retired_at_follows_the_status():
    model = make.model()
    assert revise(model.pk, {"status": "retired"}).retired_at is not None
    assert revise(model.pk, {"status": "active"}).retired_at is None


def test_equal_price_is_not_added_again():
    model = make.model()
    assert set_price(model, Decimal(1), Decimal(2))
    assert not set_price(model, Decimal("1.00"), Decimal("2.0"))
    assert set_price(model, Decimal(1), Decimal(3))
    assert Price.objects.count() == 2
    assert model.price.output_per_million == 3


@pytest.mark.django_db(transaction=True)
def test_concurrent_revisions_make_two_versions():
    model = make.model(slug="gpt", has_votes=True)

    def change(prompt: str) -> str:
        try:
            return revise(model.pk, {"system_prompt": prompt}).slug
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(change, ["one", "two"])) == ["gpt-v2", "gpt-v3"]
