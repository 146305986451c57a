"""Sheet of questions, expected answers, answers and verdicts, for people."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap

from django.utils import translation
from django.utils.translation import gettext as _

from benchmarks.exports.run_export import RunExport
from benchmarks.models import Case, ItemReply, RunItem
from benchmarks.queries.cases import expected_text, read_questions
from benchmarks.queries.matrix import SIGNS, Item, Sign, sign_of
from common.tables.table import Table

ITEMS_AT_ONCE = 2_000


def answer_table(export: RunExport) -> Table:
    with translation.override(export.language):
        columns = [_("Case"), _("Question"), _("Expected answer")]
        for name in export.names.values():
            columns += [name, _("%(name)s: verdict") % {"name": name}, _("%(name)s: score") % {"name": name}]
    return Table(columns, {}, tuple)


def answer_batches(export: RunExport) -> Iterator[list[list[object]]]:
    with translation.override(export.language):
        words = {name: str(word) for name, (_character, word) in SIGNS.items()}
    for cases in export.case_batches(max(1, ITEMS_AT_ONCE // max(1, len(export.entrants) * export.run.repeats))):
        yield list(_rows(export, cases, words))


def _rows(export: RunExport, cases: Sequence[Case], words: Mapping[Sign, str]) -> Iterator[list[object]]:
    rows = RunItem.objects.filter(entrant__in=export.entrants, case__in=cases).values_list(*Item._fields)
    items = {(item.entrant_id, item.case_id, item.repeat): item for item in starmap(Item, rows)}
    replies, questions = dict[int, str](), dict[int, str]()
    if export.with_contents:
        last = ItemReply.objects.filter(item__in=[item.pk for item in items.values()]).order_by("item", "turn")
        replies = dict(last.values_list("item_id", "reply__text"))
        questions = read_questions(export.run.version, cases)
    for case in cases:
        expected = expected_text(case.expected) if export.with_contents else ""
        for repeat in range(export.run.repeats):
            key = case.key if export.run.repeats == 1 else f"{case.key} ({repeat + 1})"
            row: list[object] = [key, questions.get(case.pk, ""), expected]
            for entrant in export.entrants:
                item = items.get((entrant.pk, case.pk, repeat))
                if item is None:
                    row += ["", "", None]
                else:
                    verdict = words[sign_of([item], item.score, item.passed is True)]
                    row += [replies.get(item.pk, ""), verdict, item.score]
            yield row
