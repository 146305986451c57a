import pytest
from django.test import Client

from tests import make

SENTENCE = "The request came from {}, but the arena is at http://testserver."


def post(path: str, **headers: str) -> tuple[int, str]:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(make.user())
    browser.get("/api/v1/models/")
    token = browser.cookies["csrftoken"].value
    response = browser.post(path, {}, "application/json", headers={"X-CSRFToken": token} | headers)
    return response.status_code, response.text


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/api/v1/sessions/"])
@pytest.mark.parametrize("origin", ["http://testserver:8080", "https://testserver", "http://[::1]:8000"])
def test_wrong_origin_is_named_with_the_expected_one(path: str, origin: str):
    status, text = post(path, Origin=origin)
    assert status == 403
    assert SENTENCE.format(origin) in text
    assert "Host, with the port" in text


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/api/v1/sessions/"])
@pytest.mark.parametrize(
    "headers",
    [
        {"X-CSRFToken": "x"},
        {"X-CSRFToken": "x", "Origin": "http://testserver"},
        {"Origin": "null"},
        {"Origin": "http://<script>alert(1)</script>"},
        {"Origin": "http://a b"},
    ],
)
def test_other_refusals_name_no_origin(path: str, headers: dict[str, str]):
    status, text = post(path, **headers)
    assert (status, "The request came from" in text) == (403, False)
    assert "<script>alert" not in text
    assert ("CSRF token" if "api" in path else "Your form has expired") in text
