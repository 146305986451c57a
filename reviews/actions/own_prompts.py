"""A review of a list of prompts, which models answer first."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Unpack

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Team, User
from benchmarks.actions import EntrantRequest, add_cases, create_run, create_template
from benchmarks.pasting import PastedCase
from common.errors import InvalidInput
from models_registry.models import LanguageModel
from reviews.actions.lifecycle import ReviewTerms, create_review
from reviews.models import Review

MAX_PROMPTS, MAX_LENGTH = 1_000, 500_000


def split_prompts(text: str) -> list[str]:
    """Return prompts, each once: lines, or blocks if there are blank lines."""
    lines = [line.strip() for line in text.strip().splitlines()]
    if "" not in lines:
        return list(dict.fromkeys(lines))
    parts = "\n".join(line.rstrip() if line.strip() else "" for line in text.splitlines()).split("\n\n")
    return list(dict.fromkeys(part.strip("\n") for part in parts if part.strip()))


@transaction.atomic
def ask_models_first(
    *,
    owner: User,
    team: Team | None,
    prompts: Sequence[str],
    models: Sequence[LanguageModel],
    budget: Decimal | None = None,
    reuse_days: int | None = None,
    opens_when_done: bool = True,
    **terms: Unpack[ReviewTerms],
) -> Review:
    """Start a run of a new template in which each model answers each prompt once, and store a draft.

    Raises as create_run and create_review do.
    """
    if not 1 <= len(prompts) <= MAX_PROMPTS:
        sentence = _("Write from 1 to %(most)s prompts.") % {"most": MAX_PROMPTS}
        raise InvalidInput(fields={"prompts": [sentence]})
    title = terms.setdefault("title", prompts[0][: Review.MAX_TITLE])
    version = create_template(owner=owner, name=title, team=team).versions.get()
    add_cases(version, [PastedCase(variables={"question": prompt}) for prompt in prompts])
    entrants = [EntrantRequest(model) for model in models]
    run = create_run(
        owner=owner, team=team, version=version, entrants=entrants, name=title, budget=budget, reuse_days=reuse_days
    )
    return create_review(owner=owner, run=run, opens_when_done=opens_when_done, may_be_under_way=True, **terms)
