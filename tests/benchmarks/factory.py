"""Templates and runs for tests."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum, Value

from accounts.models import Team, User
from benchmarks import actions
from benchmarks.actions import EntrantRequest
from benchmarks.models import Case, Check, Prompt, Run, RunCount, RunItem, Template, TemplateVersion
from benchmarks.preparation.run_preparation import prepare
from models_registry.models import LanguageModel
from tests import make
from tests.waiting import wait_for

ENDED = {Run.State.DONE, Run.State.FAILED, Run.State.CANCELLED, Run.State.PAUSED}


def version(
    cases: int = 3, *, template: str = "say {{ word }}", turns: Sequence[str] = (), owner: User | None = None,
    team: Team | None = None, **fields: Any,
) -> TemplateVersion:  # fmt: skip
    """Create a template whose prompts ask for `word0`, `word1`, …, and whose check wants it in the answer."""
    owner = owner or make.user()
    slug = f"template-{Template.objects.count()}"
    made = Template.objects.create(owner_user=owner, team=team, slug=slug, name="Words")
    version = TemplateVersion.objects.create(template=made, **fields)
    Prompt.objects.create(version=version, messages=[{"role": "user", "template": template}], turns=list(turns))
    Check.objects.create(version=version, key="has-the-word", scorer="contains")
    Case.objects.bulk_create(
        Case(version=version, position=n, key=f"case-{n}", variables={"word": f"word{n}"}, expected=[f"word{n}"])
        for n in range(cases)
    )
    return version


def run(
    version: TemplateVersion, *models: LanguageModel, is_prepared: bool = True, budget: str = "", **options: Any
) -> Run:
    run = actions.create_run(
        owner=version.template.owner_user, team=version.template.team, version=version,
        entrants=[EntrantRequest(model) for model in models],
        budget=Decimal(budget) if budget else None, **options,
    )  # fmt: skip
    if is_prepared and not prepare(run.pk):  # a running site's worker may prepare it, too
        wait_for(lambda: Run.objects.filter(pk=run.pk).exclude(state=Run.State.PREPARING).exists())
    run.refresh_from_db()
    assert run.state != Run.State.FAILED, run.detail
    return run


def wait_until_ended(run: Run, within: float = 20) -> Run:
    def is_over() -> bool:
        run.refresh_from_db()
        answering = RunItem.objects.filter(run=run, state=RunItem.State.ANSWERING).exists()
        return run.state in ENDED and not answering

    wait_for(is_over, within)
    return run


def counts(run: Run) -> dict[str, int]:
    """Return numbers of items by state, which the counters must agree with. Both are of the same moment."""
    items = RunItem.objects.filter(run=run).values("state").annotate(number=Count("pk"), by=Value("item"))
    counted = RunCount.objects.filter(entrant__run=run, n__gt=0).values("state")
    counted = counted.annotate(number=Sum("n"), by=Value("counter"))
    numbers: dict[str, dict[str, int]] = {"item": {}, "counter": {}}
    for row in items.union(counted, all=True):
        numbers[row["by"]][row["state"]] = row["number"]
    assert numbers["counter"] == numbers["item"]
    return numbers["item"]
