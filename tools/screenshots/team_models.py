"""`python -m tools.screenshots.team_models`: give the member a team with a provider, models and questions.

Prints JSON: ids in URLs of their pages.
"""

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.models import Team, User  # noqa: E402
from battles.models import Category, ModerationRule, PromptSuggestion  # noqa: E402
from models_registry.models import Catalogue  # noqa: E402
from models_registry.providers.catalogue import Offer  # noqa: E402
from models_registry.versions import set_price  # noqa: E402
from routing.models import Rule  # noqa: E402
from tests import make  # noqa: E402

NAMES = ["mistral-large-2609", "mistral-small-2609", "ministral-8b-2609", "magistral-medium-2609", "pixtral-12b"]


@transaction.atomic
def main() -> None:
    member = User.objects.get(email="mara@example.org")
    team = Team.objects.filter(slug="physics").first() or make.team(member, slug="physics", name="Physics 101")
    at = "https://api.mistral.ai/v1"
    large = make.team_model(team, NAMES[0], at=at, slug="mistral-large", name="Mistral Large", organization="Mistral")
    make.team_model(team, NAMES[1], at=at, slug="mistral-small", name="Mistral Small", status="paused")
    provider = large.provider
    provider.name, provider.needs_key = "Mistral of the institute", True
    provider.store_key("sk-an-example-of-a-key-4f1c")
    provider.save()
    set_price(large, 2, 6)  # type: ignore[arg-type]
    listed = [Offer(name).to_json() for name in NAMES]
    Catalogue.objects.create(provider=provider, asked_at=timezone.now(), fetched_at=timezone.now(), listed=listed)
    optics = Category.of_every_owner.create(team=team, slug="optics", name="Optics", phrases=["lens*", "prism"])
    ModerationRule.of_every_owner.create(team=team, category="Homework", patterns=["exercise sheet"], action="warn")
    PromptSuggestion.of_every_owner.create(team=team, texts={"en": "Why does a prism split light?"})
    rule = Rule.objects.create(team=team, order=10, note="Optics", category="~optics", target="model", model=large)
    Rule.objects.create(team=team, order=20, note="Long prompts", min_characters=4000, target="arena", is_active=True)
    ids = {"team_provider": provider.pk, "team_model": large.pk, "team_category": optics.pk, "team_rule": rule.pk}
    print(json.dumps({"team": team.slug, **ids}))


if __name__ == "__main__":
    main()
