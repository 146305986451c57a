"""Requests generated from the API's schema: no 5xx, no undescribed response. `make fuzz` tries thousands."""

import math
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.actor import VISITOR_COOKIE, visitor_cookie_value
from tests import api_fixtures, make
from tests.api_fixtures import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume asynchronous iterators"),
]

CASES = int(os.environ.get("FUZZ_CASES", "400"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PEOPLE, MODES = ("visitor", "member", "token"), tuple(GenerationMode)


class Person:
    """A visitor, member or token with data of its own and the headers of its requests."""

    def __init__(self, kind: str) -> None:
        self.answers: Counter[int] = Counter()
        self.headers: dict[str, str] = {}
        self.cookies: dict[str, str] = {}
        actor = make.visitor() if kind == "visitor" else make.member()
        self.world: World = api_fixtures.create_world(actor, with_boards=True)
        if kind == "token":
            token = make.token(actor.user)
            self.headers["Authorization"] = f"Bearer {token}"
            return
        client = Client()
        if kind == "member":
            client.force_login(actor.user)
        else:
            client.cookies[VISITOR_COOKIE] = visitor_cookie_value(actor.visitor)
        client.get("/api/v1/models/")
        self.cookies = {name: morsel.value for name, morsel in client.cookies.items()}
        self.headers["X-CSRFToken"] = self.cookies["csrftoken"]

    def known(self, path: str, name: str) -> list[str]:
        """Return existing ids for a parameter of the path or query."""
        ids = self.world.ids
        if name == "public_id":
            nested = any(name in path for name in ("/leaderboard/", "/me/", "/benchmarks/", "/route/"))
            kind = path.split("/")[4 if nested else 3]
            return ids.get(kind, [])
        return {
            "slug": ids["models"],
            "a": ids["models"],
            "b": ids["models"],
            "models": ids["models"],
            "board": ids["boards"],
            "snapshot": ids["snapshots"],
            "upload": ids["uploads"],
        }.get(name, [])


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the test's connection open at the end of requests, as Django's test client does."""
    ends = (signals.request_started, signals.request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    try:
        yield
    finally:
        for end in ends:
            end.connect(close_old_connections)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("kind", PEOPLE)
def test_generated_requests_get_responses_of_the_schema(kind: str, mode: GenerationMode, settings: Any):
    settings.ARENA_LIMITS = dict.fromkeys(settings.ARENA_LIMITS, "off")
    settings.ARENA_PUBLISH_VOTES = True
    person = Person(kind)
    with one_connection():
        failures = failures_of_api(mode, person)
    assert not failures, "\n\n".join(failures)
    assert sum(person.answers.values()) >= CASES / (len(PEOPLE) * len(MODES)) / 2
    if mode is GenerationMode.POSITIVE:  # otherwise only refusals would have been tried
        assert person.answers[200] > sum(person.answers.values()) / 10


@cache
def every_operation() -> list[Any]:
    """Return the API's operations with their strategies, which take longer to make than the requests."""
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", get_wsgi_application())
    return [result.ok() for result in schema.get_all_operations()]


def failures_of_api(mode: GenerationMode, person: Person) -> list[str]:
    operations = every_operation()
    each = math.ceil(CASES / (len(PEOPLE) * len(MODES) * len(operations)))
    if mode is GenerationMode.NEGATIVE:  # an operation without input has no invalid requests
        operations = [operation for operation in operations if operation.query or operation.body]
    return [failure for operation in operations for failure in failures_of(operation, mode, person, each)]


def failures_of(operation: Any, mode: GenerationMode, person: Person, cases: int) -> list[str]:
    """Return an operation's failures; its changes are rolled back."""

    @settings(
        max_examples=cases,
        derandomize="FUZZ_CASES" not in os.environ,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode), data=st.data())
    def ask(case: Any, data: st.DataObject) -> None:
        for values in (case.path_parameters, case.query):
            for name in list(values or ()):
                known = person.known(operation.path, name)
                if known and data.draw(st.booleans()):
                    values[name] = data.draw(st.sampled_from(known))
        answer = case.call_and_validate(headers=person.headers, cookies=person.cookies, checks=CHECKS)
        person.answers[answer.status_code] += 1

    try:
        with transaction.atomic():
            try:
                ask()
            finally:
                transaction.set_rollback(True)
    except FailureGroup as group:
        return [f"{operation.label} ({mode.value}): {failure}" for failure in group.exceptions]
    return []
