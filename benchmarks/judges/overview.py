"""Judges in lists, with what their control pairs showed."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from benchmarks.judges.results import Card, judges_of, read_cards
from benchmarks.models import Judge, Judging, Run

PER_PAGE = 30


@dataclass(frozen=True)
class JudgeRow:
    """judgings: number of runs that the judge was asked about."""

    judge: Judge
    card: Card
    judgings: int


def judge_rows(judges: Sequence[Judge]) -> list[JudgeRow]:
    """Return facts of judges; two queries."""
    cards, asked = read_cards(judges), Judging.objects.filter(judge__in=judges, is_card=False).order_by()
    counts = dict(asked.values_list("judge").annotate(n=Count("subject", distinct=True)))
    return [JudgeRow(judge, cards[judge.pk], counts.get(judge.pk, 0)) for judge in judges]


def read_versions(judge: Judge) -> list[Judge]:
    return list(Judge.objects.filter(series=judge.series).select_related("model").order_by("-number"))


def judges_on(run: Run) -> list[Judge]:
    """Return judges with judgements of the run's replies or control pairs, the latest first."""
    of_cards = Judge.objects.filter(judgings__subject=run, judgings__is_card=True).select_related("model__team", "team")
    judges = {judge.pk: judge for judge in [*judges_of(run), *of_cards]}
    return [judges[pk] for pk in sorted(judges, reverse=True)]


def subjects_of(judge: Judge) -> list[Run]:
    runs = Run.objects.filter(judgings__judge=judge).select_related("version__template").distinct()
    return list(runs.order_by("-created_at", "-pk")[:PER_PAGE])
