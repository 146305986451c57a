"""Runs of answers that exist already."""

from collections.abc import Mapping, Sequence
from itertools import islice

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import User
from benchmarks.actions.runs import require_room_for_run
from benchmarks.actions.templates import freeze_version
from benchmarks.errors import RunNotPossible
from benchmarks.imports import content as neutral
from benchmarks.models import Entrant, ItemReply, Prompt, Reply, Run, RunCount, RunItem, TemplateVersion
from benchmarks.tasks import wake_after_commit

_ROWS_AT_ONCE = 2_000
# Texts by entrant, case key and repeat, in the order of the turns.
_Answers = Mapping[tuple[str, str, int], Sequence[str]]


@transaction.atomic
def create_run_of_answers(
    *, owner: User, version: TemplateVersion, replies: Sequence[neutral.Reply], name: str = ""
) -> Run:
    """Store the answers of models that are not asked, and have them scored. Freezes the version.

    Raises RunNotPossible and TooManyRuns.
    """
    require_room_for_run(owner)
    version = freeze_version(version)
    answers = _by_item(replies)
    names = list(dict.fromkeys(entrant for entrant, _case, _repeat in answers))
    repeats = 1 + max((repeat for _entrant, _case, repeat in answers), default=0)
    if not names or len(names) > Run.MAX_ENTRANTS or repeats > Run.MAX_REPEATS:
        raise RunNotPossible(
            _("A run has 1 to %(entrants)s entrants and at most %(repeats)s repeats.")
            % {"entrants": Run.MAX_ENTRANTS, "repeats": Run.MAX_REPEATS}
        )
    item_count = version.case_count * len(names) * repeats
    if item_count > Run.MAX_ITEMS:
        raise RunNotPossible(_("A run has at most %(most)s items.") % {"most": Run.MAX_ITEMS})
    run = Run.objects.create(
        version=version,
        owner=owner,
        team=version.template.team,
        name=name,
        repeats=repeats,
        entrant_count=len(names),
        item_count=item_count,
    )
    prompt = version.prompts.order_by("position")[0]
    entrants = Entrant.objects.bulk_create(
        Entrant(run=run, position=position, imported=name[:120], label=name[:120], prompt=prompt)
        for position, name in enumerate(names)
    )
    RunCount.objects.bulk_create(
        RunCount(entrant=entrant, state=state) for entrant in entrants for state in RunItem.State
    )
    for entrant, imported in zip(entrants, names, strict=True):
        _store_items(entrant, prompt, {key[1:]: texts for key, texts in answers.items() if key[0] == imported})
    wake_after_commit(run)
    return run


def _by_item(replies: Sequence[neutral.Reply]) -> _Answers:
    answers: dict[tuple[str, str, int], list[str]] = {}
    for reply in sorted(replies, key=lambda reply: reply.turn):
        answers.setdefault((reply.entrant, reply.case_key, reply.repeat), []).append(reply.text)
    return answers


def _store_items(entrant: Entrant, prompt: Prompt, answers: Mapping[tuple[str, int], Sequence[str]]) -> None:
    """Store an entrant's items: answered with a text for each turn, otherwise skipped."""
    run, now, turns = entrant.run, timezone.now(), 1 + len(prompt.turns)
    cases = run.version.cases.order_by("position").values_list("pk", "key", "position")
    repeated_cases = ((*case, repeat) for case in cases for repeat in range(run.repeats))
    while batch := list(islice(repeated_cases, _ROWS_AT_ONCE)):
        texts = [answers.get((key, repeat), ())[:turns] for _pk, key, _position, repeat in batch]
        items = RunItem.objects.bulk_create(
            RunItem(
                run=run, entrant=entrant, case_id=pk, repeat=repeat, turn=max(0, len(turn_texts) - 1), due_at=now,
                position=(position * run.repeats + repeat) * run.entrant_count + entrant.position,
                state=RunItem.State.ANSWERED if len(turn_texts) == turns else RunItem.State.SKIPPED, finished_at=now,
            )
            for (pk, _key, position, repeat), turn_texts in zip(batch, texts, strict=True)
        )  # fmt: skip
        given = [
            (item, turn, text)
            for item, turn_texts in zip(items, texts, strict=True)
            for turn, text in enumerate(turn_texts)
        ]
        replies = Reply.objects.bulk_create(
            Reply(owner=run.owner, team=run.team, text=text) for _item, _turn, text in given
        )
        ItemReply.objects.bulk_create(
            ItemReply(item=item, turn=turn, reply=reply)
            for (item, turn, _text), reply in zip(given, replies, strict=True)
        )
