"""`python -m tests.browser.helpers.votes`: fill an arena's board with established, preliminary and waiting models."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from leaderboard.aggregation import job  # noqa: E402
from leaderboard.counting import schedule  # noqa: E402
from models_registry.models import LanguageModel, Price  # noqa: E402
from tests.leaderboard.vote_factory import cast_many, contestants  # noqa: E402
from tests.waiting import wait_for  # noqa: E402


def publish() -> None:
    """Publish a snapshot as soon as the arena's own run has ended."""
    wait_for(lambda: job.aggregate(slot=schedule.new_slot()))


def another_round() -> None:
    """Vote on the existing models and publish."""
    gold, silver, bronze = (LanguageModel.objects.get(slug=slug) for slug in ("gold", "silver", "bronze"))
    cast_many(gold, silver, left=9, right=6, tie=1)
    cast_many(silver, bronze, left=9, right=6)
    cast_many(bronze, gold, left=5, right=9, both_bad=1)
    publish()


def first_round() -> None:
    gold, silver, _bronze, newcomer, _guest = contestants("gold", "silver", "bronze", "newcomer", "guest")
    gold.organization = "Aurum"
    gold.save()
    for model, price in ((gold, "10"), (silver, "2")):
        Price.objects.create(model=model, input_per_million="1", output_per_million=price)
    another_round()
    cast_many(newcomer, gold, left=3, right=3)
    another_round()


def cast_round() -> None:
    another_round() if LanguageModel.objects.filter(slug="gold").exists() else first_round()


if __name__ == "__main__":
    cast_round()
