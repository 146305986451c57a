"""Steps by which an operator sets up a new arena."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse
from django.utils.translation import gettext as _

from battles.admin.model_tests import TESTED
from leaderboard.counting.new_votes import count_of_site
from site_content.current import site

# Action of the audit log. arena_site.backups may not be imported here: it uses this package.
BACKUP = "backup"


@dataclass(frozen=True)
class Step:
    """url: "" for a command, which `about` names."""

    name: str
    about: str
    url: str
    is_done: bool


@dataclass(frozen=True)
class FirstSteps:
    steps: Sequence[Step]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def are_done(self) -> bool:
        return self.done == len(self.steps)


def read_first_steps(*, set_up: int, spends_without_limit: bool, last_times: dict[str, datetime]) -> FirstSteps:
    """Read in one query, beside the cached site.

    set_up: models that can be called. last_times: of the audit log's TESTED and BACKUP.
    """
    current = site()
    return FirstSteps(
        [
            Step(
                _("Set up two models"),
                _("Choose where they run, enter a key if one is needed, and tick them in the list of the provider."),
                reverse("admin:models_registry_provider_add"), set_up >= 2,
            ),
            Step(
                _("Test them"), _("Send each of them a short prompt and read the answers."),
                reverse("admin:battles_test_models"), TESTED in last_times,
            ),
            Step(
                _("Set a budget for a day"), _("Models cost money. Nothing is sent beyond the budget."),
                reverse("admin:models_registry_budget_add"), not spends_without_limit,
            ),
            Step(
                _("Name your arena"), _("Its name, logo and colour are on every page."),
                reverse("admin:site_content_siteidentity_changelist"),
                bool(current.chosen_name or current.logo or current.accent),
            ),
            Step(
                _("Publish a legal notice or a privacy page"), _("They are linked at the foot of every page."),
                reverse("admin:site_content_pageversion_changelist"), bool(current.pages),
            ),
            Step(
                _("Cast the first vote"), _("Ask something, compare the two answers and vote."), "/",
                count_of_site() > 0,
            ),
            Step(
                _("Make a backup"), _("Run “manage.py backup arena.zip”, best every day, and keep the file elsewhere."),
                "", BACKUP in last_times,
            ),
        ]
    )  # fmt: skip
