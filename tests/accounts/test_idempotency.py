from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from accounts.api.idempotency import idempotent
from accounts.models import IdempotencyKey, Scope, User, Visitor
from accounts.tasks import forget_old_idempotency_keys
from common.errors import ArenaError, ServiceAway, TooManyRequests
from tests import make

pytestmark = pytest.mark.django_db
Post = Callable[..., Response]


def view_running(run: Callable[[], object]) -> Post:
    """Return a function that POSTs `{"n": …}` to a view whose result comes from `run`."""

    class View(APIView):
        @idempotent
        def post(self, request: Request) -> Response:
            return Response({"result": run()}, status=201)

    view = View.as_view()

    def post(key: str, n: int = 1, *, secret: str) -> Response:
        headers = {"Authorization": f"Bearer {secret}", **({"Idempotency-Key": key} if key else {})}
        request = APIRequestFactory().post("/", {"n": n}, format="json", headers=headers)
        return view(request)

    return post


def issue_secret(user: User) -> str:
    return make.token(user, scopes=[Scope.READ])


@pytest.fixture
def secret() -> str:
    return issue_secret(make.user())


@pytest.fixture
def runs() -> list[int]:
    return []


def test_second_request_returns_first_result_without_running(secret: str, runs: list[int]):
    post = view_running(lambda: runs.append(1) or len(runs))
    first, second = post("a", secret=secret), post("a", secret=secret)
    assert (first.status_code, first.data) == (second.status_code, second.data) == (201, {"result": 1})
    assert runs == [1]


def test_requests_without_key_all_run(secret: str, runs: list[int]):
    post = view_running(lambda: runs.append(1))
    post("", secret=secret)
    post("", secret=secret)
    assert len(runs) == 2


def test_same_key_with_another_body_is_refused(secret: str, runs: list[int]):
    post = view_running(lambda: runs.append(1))
    post("a", 1, secret=secret)
    refused = post("a", 2, secret=secret)
    assert (refused.status_code, refused.data["code"]) == (422, "idempotency_key_reused")
    assert len(runs) == 1


def test_keys_are_separate_per_person(secret: str, runs: list[int]):
    post = view_running(lambda: runs.append(1))
    post("a", secret=secret)
    post("a", secret=issue_secret(make.user()))
    assert len(runs) == 2


def test_too_long_key_is_refused(secret: str):
    refused = view_running(lambda: 1)("k" * 256, secret=secret)
    assert (refused.status_code, refused.data["code"]) == (400, "invalid")
    assert view_running(lambda: 1)("k" * 255, secret=secret).status_code == 201


def test_refusal_is_stored(secret: str, runs: list[int]):
    def refuse() -> None:
        runs.append(1)
        raise ArenaError("No.")

    post = view_running(refuse)
    first, second = post("a", secret=secret), post("a", secret=secret)
    assert (first.status_code, first.data) == (second.status_code, second.data)
    assert second.data == {"code": "refused", "detail": "No."}
    assert runs == [1]


@pytest.mark.parametrize("error", [TooManyRequests(retry_after=1), ServiceAway()])
def test_temporary_errors_are_not_stored(secret: str, runs: list[int], error: ArenaError):
    def first_fails() -> int:
        runs.append(1)
        if len(runs) == 1:
            raise error
        return len(runs)

    post = view_running(first_fails)
    assert post("a", secret=secret).status_code == error.http_status
    assert post("a", secret=secret).data == {"result": 2}


def test_refusal_rolls_back_writes(secret: str):
    def write_then_refuse() -> None:
        Visitor.objects.create()
        raise ArenaError

    view_running(write_then_refuse)("a", secret=secret)
    assert not Visitor.objects.exists()


def test_unexpected_error_is_not_stored(secret: str, runs: list[int]):
    def first_breaks() -> int:
        runs.append(1)
        return 1 // (len(runs) - 1)

    post = view_running(first_breaks)
    with pytest.raises(ZeroDivisionError):
        post("a", secret=secret)
    assert post("a", secret=secret).data == {"result": 1}


@pytest.mark.django_db(transaction=True)
def test_second_request_during_the_first_returns_409():
    secret = issue_secret(make.user())
    is_running, may_end = Event(), Event()

    def wait() -> str:
        is_running.set()
        assert may_end.wait(60)
        return "done"

    post = view_running(wait)

    def in_thread() -> Response:
        try:
            return post("a", secret=secret)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(in_thread)
        assert is_running.wait(60)
        second = post("a", secret=secret)
        may_end.set()
        assert first.result().data == {"result": "done"}
    assert (second.status_code, second.data["code"], second["Retry-After"]) == (409, "still_running", "1")
    assert post("a", secret=secret).data == {"result": "done"}


def test_request_of_killed_process_can_be_repeated(secret: str):
    post = view_running(lambda: 1)
    post("a", secret=secret)
    IdempotencyKey.objects.update(status=None, body=None)
    assert post("a", secret=secret).data == {"result": 1}


def test_keys_are_deleted_after_a_day(secret: str):
    post = view_running(lambda: 1)
    post("old", secret=secret)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    post("new", secret=secret)
    forget_old_idempotency_keys()
    assert [row.key for row in IdempotencyKey.objects.all()] == ["new"]
