"""Labels of conversations, and relabelling of votes whose rules changed since they were cast.

Votes whose text was deleted keep their labels.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

from django.db import connection, transaction

from battles.labels import UNDETERMINED, Labels, custom_categories
from battles.models import Category, Turn, Vote, VoteQuerySet
from battles.models.categories import TEAM_MARK
from battles.models.turns import AttachedFile
from battles.signals import labels_change, relabelling_begins
from battles.text.classifier import VERSION, classify
from battles.text.custom_category import Rule, rules_digest
from battles.text.labels import LabelChange
from battles.text.prompt_digest import prompt_digest

IMAGES = "images"
BATCH = 1_000

_STORE = """
UPDATE battles_vote AS vote
SET categories = label.categories, language = label.language, labelled_by = label.labelled_by,
    prompt_digest = label.prompt_digest
FROM jsonb_to_recordset(%s::jsonb) AS label(
    id bigint, categories varchar(40)[], language varchar(3), labelled_by varchar(60), prompt_digest varchar(32)
)
WHERE vote.id = label.id
"""


class LabelColumns(TypedDict):
    categories: list[str]
    language: str
    labelled_by: str
    prompt_digest: str


# Votes of reviews have none: they count on one board alone.
NO_LABELS: LabelColumns = {"categories": [], "language": UNDETERMINED, "labelled_by": "", "prompt_digest": ""}


def version(rules: Sequence[Rule]) -> str:
    """Return the version of classifier and rules; another version may label differently."""
    return f"{VERSION} own-{rules_digest(rules)}" if rules else VERSION


def label(
    prompts: Sequence[str], rules: Sequence[Rule] | None = None, *, files: Sequence[Mapping[str, object]] = ()
) -> LabelColumns:
    """Return the labels of a conversation.

    prompts: those of the judged turns. rules: the operator's categories, by default the cached ones.
    files: `kind` and `sha256` of each attachment.
    """
    rules = custom_categories.rules() if rules is None else rules
    labels = classify(prompts)
    custom = {rule.slug for rule in rules if rule.matches(prompts, labels.language)}
    return {
        "categories": sorted({*labels.categories, *custom, *(IMAGES for file in files if file["kind"] == "image")}),
        "language": labels.language,
        "labelled_by": version(rules),
        "prompt_digest": prompt_digest(prompts, [str(file["sha256"]) for file in files]),
    }


def categories_of_team(team_id: int | None, prompts: Sequence[str], language: str) -> list[str]:
    """Return the addresses of the team's own categories that the prompts fit; [] without a team."""
    if team_id is None:
        return []
    return [rule.slug for rule in custom_categories.rules_of_team(team_id) if rule.matches(prompts, language)]


def labels_in_place(
    team_id: int | None, prompts: Sequence[str], *, files: Sequence[Mapping[str, object]] = ()
) -> Labels:
    """Return the labels of a conversation for a decision: a team's own categories with TEAM_MARK."""
    columns = label(prompts, files=files)
    own = [f"{TEAM_MARK}{slug}" for slug in categories_of_team(team_id, prompts, columns["language"])]
    return Labels((*columns["categories"], *own), columns["language"])


def relabel_pending(pending: VoteQuerySet) -> int:
    """Relabel outdated pending votes; return their number. Needs the lock of the tallies."""
    rules = Category.objects.rules()
    outdated = pending.outside_of_reviews().exclude(labelled_by=version(rules)).order_by("order")
    relabelled = 0
    ids = list(outdated.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        labels = _current_labels(ids[start : start + BATCH], rules)
        _store(labels)
        relabelled += len(labels)
    return relabelled


def relabel_votes(*, everything: bool = False, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Relabel votes, also counted ones; return how many got other labels. Each batch commits on its own.

    everything: also votes of the current version. progress: called with (done, total) after each batch.
    """
    rules = Category.objects.rules()
    labelled = Vote.objects.outside_of_reviews()
    votes = labelled if everything else labelled.exclude(labelled_by=version(rules))
    total, done, changed, last = votes.count(), 0, 0, 0
    while batch := dict(votes.filter(order__gt=last).order_by("order").values_list("pk", "order")[:BATCH]):
        changed += _relabel(_current_labels(batch, rules))
        done, last = done + len(batch), max(filter(None, batch.values()))
        progress(done, total)
    return changed


def _current_labels(vote_ids: Iterable[int], rules: list[Rule]) -> dict[int, LabelColumns]:
    """Return labels by vote; votes whose text was deleted are left out."""
    battles = dict(Vote.objects.filter(pk__in=list(vote_ids)).values_list("battle_id", "pk"))
    prompts: dict[int, list[str]] = defaultdict(list)
    files: dict[int, list[AttachedFile]] = defaultdict(list)
    turns = Turn.objects.judged().filter(battle__in=battles).exclude(prompt="").with_attachments()
    for turn in turns.only("battle_id", "prompt").order_by("index"):
        prompts[battles[turn.battle_id]].append(turn.prompt)
        files[battles[turn.battle_id]] += turn.attached
    return {vote_id: label(texts, rules, files=files[vote_id]) for vote_id, texts in prompts.items()}


@transaction.atomic
def _relabel(labels: dict[int, LabelColumns]) -> int:
    relabelling_begins.send(sender=Vote)
    changes = []
    votes = Vote.objects.select_for_update().filter(pk__in=labels).order_by("order")
    for vote in votes.only("categories", "language"):
        before = Labels(tuple(vote.categories), vote.language)
        after = Labels(tuple(labels[vote.pk]["categories"]), labels[vote.pk]["language"])
        if before != after:
            changes.append(LabelChange(vote.pk, before, after))
    if changes:
        labels_change.send(sender=Vote, changes=changes)
    _store(labels)
    return len(changes)


def _store(labels: dict[int, LabelColumns]) -> None:
    rows = [{"id": vote_id, **columns} for vote_id, columns in labels.items()]
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [json.dumps(rows)])
