"""`python -m tools.screenshots.benchmark_runs`: give the member a template and two runs.

Prints JSON: ids in URLs of their pages.
"""

import json
import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arena_site.settings.local")
django.setup()

from django.db import transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from accounts.actor import Actor  # noqa: E402
from accounts.models import User  # noqa: E402
from benchmarks import actions  # noqa: E402
from benchmarks.actions import EntrantRequest  # noqa: E402
from benchmarks.models import Run, RunItem  # noqa: E402
from models_registry.models import LanguageModel  # noqa: E402
from reviews import actions as review_actions  # noqa: E402
from reviews.models import Review  # noqa: E402
from reviews.reports.actions import report_on_board, report_on_run  # noqa: E402
from tests import make  # noqa: E402
from tests.worlds.benchmarks import judged_runs, samples  # noqa: E402
from tools.screenshots import reviews  # noqa: E402


@transaction.atomic  # so that no worker sees the runs before they are as they shall be
def main() -> None:
    member, models = User.objects.get(email="mara@example.org"), LanguageModel.objects.configured()[:3]
    sample = samples.sample(member, models)
    version = sample.run.version
    samples.change_draft(sample)
    later = samples.finished_run(member, version, models[::-1])
    Run.objects.filter(pk=later.pk).update(name="After the update")
    # Paused in the middle: the workers would ask for the rest.
    running = actions.create_run(
        owner=member, version=version, name="Second look", entrants=[EntrantRequest(model) for model in models],
        budget=2, starts_at_once=False,
    )  # fmt: skip
    Run.objects.filter(pk=running.pk).update(state="queued")
    samples.prepare(running)
    items = list(RunItem.objects.filter(run=running).select_related("entrant__model", "case", "run").order_by("pk"))
    for number, item in enumerate(items[: len(items) // 2]):
        samples.answer(item, item.case.expected[0], is_right=number % 4 > 0)
    Run.objects.filter(pk=running.pk).update(state="paused", reason="person", started_at=timezone.now(), spent="0.42")
    closed, review, by_link, by_codes = (
        reviews.closed_review(sample.run), reviews.open_review(later), reviews.review_by_link(later),
        reviews.review_by_codes(later),
    )  # fmt: skip
    to_grade, graded = (
        review_actions.open_review(
            review_actions.create_review(
                owner=member, run=sample.run, title=title, asks_for=asks_for, opinions_per_item=3, least_seconds=0
            )
        )
        for title, asks_for in (("Correct or not?", "pass"), ("Stars", "stars"))
    )
    review_actions.next_answer(Actor(user=member), to_grade)
    grade_all(graded)
    not_asked, asked, second_opinion = reviews.second_opinions(member, list(models[:2]))
    item = sample.item
    [judge, _grader] = judged_runs.judges_of_each_kind(models[0], sample.run)
    questions = "Which model knows capitals?", "Which model should answer our mail?"
    report = report_on_run(owner=member, run=sample.run, question=questions[0])
    on_board = report_on_board(owner=member, board="overall", team=None, question=questions[1])
    print(json.dumps({
        "template": sample.template.public_id, "run": sample.run.public_id, "running": running.public_id,
        "item": item.pk, "case": item.case_id, "later": later.public_id, "judge": judge.public_id,
        "review": review.public_id, "closed": closed.public_id,
        "to_grade": to_grade.public_id, "graded": graded.public_id,
        "by_link": by_link.public_id, "by_codes": by_codes.public_id, "review_draft": reviews.draft(later).public_id,
        "not_asked": not_asked.public_id, "asked": asked.public_id, "second_opinion": second_opinion.public_id,
        "decision_report": report.public_id, "board_report": on_board.public_id,
        "drafted": sample.template.versions.get(state="draft").cases.earliest("position").pk,
    }))  # fmt: skip


def grade_all(review: Review) -> None:
    """Have two people grade each answer, and close the review."""
    for person in (make.member(), make.member()):
        number = 0
        while (drawn := review_actions.next_answer(person, review)) is not None:
            number += 1
            review_actions.grade_answer(person, review, drawn.pk, 2 + number % 4)
    review_actions.close_review(review)


if __name__ == "__main__":
    main()
