from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import CharField, Exists, OuterRef, Subquery
from django.db.models.functions import MD5, Cast

from accounts.actor import Actor
from benchmarks.models import Grade, Run, RunItem


@dataclass(frozen=True)
class ItemGrades:
    """own: the reader's."""

    own: Grade | None
    others: Sequence[Grade]


@dataclass(frozen=True)
class RunGrades:
    """Numbers of graded items. stars: mean, None without any. next_id: item that the reader has not graded."""

    items: int
    passed: int
    failed: int
    stars: float | None
    starred: int
    next_id: int | None


def read_item_grades(item: RunItem, actor: Actor) -> ItemGrades:
    grades = list(Grade.objects.filter(item=item).counting())
    own = next((grade for grade in grades if actor.user and grade.grader_id == actor.user.pk), None)
    return ItemGrades(own, [grade for grade in grades if grade is not own])


def read_run_grades(run: Run, actor: Actor) -> RunGrades:
    """Return a run's numbers of grades; two queries."""
    grades = list(
        Grade.objects.filter(item__entrant__run=run).counting().values_list("item", "kind", "value", named=False)
    )
    passes = [value for _item, kind, value in grades if kind == Grade.Kind.PASS]
    stars = [value for _item, kind, value in grades if kind == Grade.Kind.STARS]
    return RunGrades(
        items=len({item for item, _kind, _value in grades}),
        passed=sum(passes),
        failed=len(passes) - sum(passes),
        stars=sum(stars) / len(stars) if stars else None,
        starred=len(stars),
        next_id=next_to_grade(run, actor),
    )


def next_to_grade(run: Run, actor: Actor, *, but: int = 0) -> int | None:
    """Return an item that the actor has not graded. The order in a case tells nothing of the entrant."""
    answered = RunItem.objects.filter(entrant__run=run, replies__turn=0).exclude(pk=but)
    if actor.user is not None:
        answered = answered.exclude(grades__grader=actor.user)
    # The order is that of cases, which have an index; a run's items have none.
    case = run.version.cases.filter(Exists(answered.filter(case=OuterRef("pk")))).order_by("position")
    following = answered.filter(case=Subquery(case.values("pk")[:1])).order_by(MD5(Cast("pk", CharField())))
    return following.values_list("pk", flat=True).first()
