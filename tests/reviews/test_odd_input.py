"""Odd input to operations of reviews, judges and reports is refused in words."""

import json

import pytest
from django.conf import LazySettings

from accounts.actor import Actor
from reviews import actions
from reviews.models import Review
from reviews.reports.actions import report_on_run
from tests import make
from tests.worlds.benchmarks import judged_runs
from tests.worlds.benchmarks.samples import Sample

pytestmark = pytest.mark.django_db

# JSON texts in the place of a field's value.
ODD = [
    "null", "-1", "1e400", "9" * 5_000, '"a\\u0000b"', '"\\ud800"', "[[]]", '{"a": "\\ud800"}', "[" * 200 + "]" * 200,
    '"9999-12-31T23:59:59-23:00"',
]  # fmt: skip
ODD_BODIES = ["", "null", "[]", "{", '{"\\ud800": 1}', "[" * 100_000]
RUBRIC = {"kind": "scores", "criteria": [{"name": "right"}]}
TERMS = {
    "title": "a", "instructions": "a", "audience": "link", "plan": "all", "opinions_per_item": 2, "most_per_person": 3,
    "takes_ties": True, "expected_people": 4, "repeats_percent": 5, "least_seconds": 2, "opens_at": None,
    "closes_at": None,
}  # fmt: skip


def with_odd_fields(body: dict[str, object]) -> list[str]:
    """Return bodies in each of which one field is odd or missing."""
    bodies = []
    for name in body:
        others = json.dumps({other: value for other, value in body.items() if other != name})
        start = others[:-1] + (", " if len(body) > 1 else "")
        bodies += [others, *(f'{start}"{name}": {value}}}' for value in ODD)]
    return bodies


@pytest.fixture
def operations(owner: Actor, sample: Sample, review: Review) -> list[tuple[str, str, dict[str, object]]]:
    """Methods, addresses and valid bodies."""
    judge = judged_runs.judge(make.model("judge", slug="judge"), owner.user)
    report = report_on_run(owner=owner.user, run=sample.run, question="Which?")
    draft, run = actions.create_review(owner=owner.user, run=sample.run), sample.run.public_id
    content = {"name": "a", "model": "judge", "rubric": RUBRIC, "parameters": {"temperature": 0}}
    judging = {"judge": judge.public_id, "pairs": "all", "pairs_per_case": 1, "orders": "both", "card": False}
    return [
        ("post", "reviews/", {"run": run, **TERMS}),
        ("patch", f"reviews/{draft.public_id}/", TERMS),
        ("post", f"reviews/{review.public_id}/next/", {}),
        ("post", "reports/", {"question": "Which?", "run": run}),
        ("post", f"reports/{report.public_id}/publish/", {"readers": "none"}),
        ("post", "judges/", {**content, "own_family": "flag"}),
        ("post", f"benchmarks/runs/{run}/judgements/estimate/", judging),
        ("post", f"benchmarks/runs/{run}/judgements/", {**judging, "budget": "1", "start": False}),
    ]  # fmt: skip


def test_odd_bodies_are_refused_in_words(
    owner: Actor, operations: list[tuple[str, str, dict[str, object]]], settings: LazySettings
):
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    api, statuses = make.api(owner.user), set()
    for method, address, body in operations:
        for odd in [json.dumps(body), *with_odd_fields(body), *ODD_BODIES]:
            response = getattr(api, method)(f"/api/v1/{address}", odd, "application/json")
            statuses.add(response.status_code)
            assert response.status_code < 300 or response.json()["code"], (address, odd[:100])
            if odd == json.dumps(body):
                assert response.status_code < 300, (address, response.content)
    assert statuses <= {200, 201, 202, 400, 404, 409, 413, 422, 429}  # runs at once
