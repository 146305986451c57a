"""Access to decision reports by address, and what the API does."""

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Scope
from reviews.models import DecisionReport
from reviews.reports.document import checksum
from tests import make
from tests.arena_site.security import url_access
from tests.reviews.reports.reporting import QUESTION
from tests.worlds.benchmarks.samples import Sample

pytestmark = [pytest.mark.django_db, pytest.mark.processes]


def test_pages_answer_their_owner_only(of_run: DecisionReport, member: Actor):
    owner, strict = make.browser(member), make.browser(member, enforce_csrf_checks=True)
    others = {"visitor": Client(), "member": make.browser(make.member())}
    for address in [address for address in url_access.REPORTS if "{" in address]:
        path = address.format(public_id=of_run.public_id, ending="json")
        is_form = path.endswith(("/publish/", "/delete/"))
        method = "post" if is_form else "get"
        signs_in = (404, 302) if is_form else (404,)
        assert getattr(others["visitor"], method)(path).status_code in signs_in, path
        assert getattr(others["member"], method)(path).status_code == 404, path
        if is_form:
            assert strict.post(path).status_code == 403, path
        assert getattr(owner, method)(path).status_code in (200, 302), path


def test_api_needs_owner_and_scope(of_run: DecisionReport, member: Actor):
    programs = {scope: make.api(member.user, scopes=[scope]) for scope in Scope}
    stranger, wrong = make.api(), []
    for address, needed in url_access.REPORTS_API.items():
        path = address.format(public_id=of_run.public_id, ending="json")
        for method, wanted in needed.items():
            assert "{" not in address or getattr(stranger, method.lower())(path).status_code == 404
            for scope, client in programs.items():
                status = getattr(client, method.lower())(path).status_code
                if (status in (401, 403, 404)) if scope == wanted else status != 403:
                    wrong.append((scope, method, path, status))
    assert wrong == []
    assert not DecisionReport.objects.exists()


def test_api_makes_publishes_and_deletes(sample: Sample, member: Actor):
    client, form = make.api(member.user), {"question": QUESTION, "run": sample.run.public_id}
    made = client.post("/api/v1/reports/", form, content_type="application/json")
    public_id = made.json()["id"]
    assert (made.status_code, made.json()["readers"], made.json()["mine"]) == (201, "none", True)
    path = f"/api/v1/reports/{public_id}"
    visitor = Client()
    assert visitor.get(f"{path}.json").status_code == 404
    published = client.post(f"{path}/publish/", {"readers": "numbers"}, content_type="application/json")
    assert published.json()["readers"] == "numbers"
    file = visitor.get(f"{path}.json")
    assert (file["Content-Type"], "Gazelle ada" in file.text) == ("application/json", False)
    assert client.get(f"{path}.json").json()["checksum"] == DecisionReport.objects.get().checksum
    assert visitor.get(f"{path}.html").status_code == 200
    assert visitor.get(f"{path}/").json()["mine"] is False
    assert visitor.get(f"{path}.csv").status_code == 404
    assert [listed["id"] for listed in client.get("/api/v1/reports/").json()["results"]] == [public_id]
    assert visitor.get("/api/v1/reports/").json()["results"] == []
    assert client.delete(f"{path}/").status_code == 204
    assert client.get(f"{path}/").status_code == 404
    assert checksum("") != file.json()["checksum"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question": QUESTION}, 400), ({"question": QUESTION, "run": "a", "board": "overall"}, 400),
        ({"board": "overall"}, 400), ({"question": "x" * 301, "board": "overall"}, 400),
        ({"question": QUESTION, "board": "overall"}, 409), ({"question": QUESTION, "board": "nothing"}, 404),
        ({"question": QUESTION, "run": "nothing"}, 404), ({"question": QUESTION, "board": "a", "team": "none"}, 404),
    ],
)  # fmt: skip
def test_api_refuses_bad_input(member: Actor, body: dict[str, str], status: int):
    answer = make.api(member.user).post("/api/v1/reports/", body, content_type="application/json")
    assert answer.status_code == status
    assert Client().post("/api/v1/reports/", body, content_type="application/json").status_code == 401
