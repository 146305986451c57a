"""Too large bodies return 413: from Django, or far beyond its limit while they arrive."""

import pytest
from django.test import Client

from tests.site import Reader

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("headers", "retarget"), [({}, None), ({"HX-Request": "true"}, "#notices")])
def test_too_long_prompt_returns_413(client: Client, headers: dict[str, str], retarget: str | None):
    much, form = "prompt=" + "x" * 1_200_000, "application/x-www-form-urlencoded"
    refused = client.post("/", much, form, headers=headers)
    assert refused.status_code == 413
    assert "The request is too large." in refused.text
    assert refused.headers.get("HX-Retarget") == retarget


@pytest.mark.django_db(transaction=True)
def test_body_beyond_the_limit_gets_a_plain_sentence(reader: Reader):
    refused = reader.post("/", data={"prompt": "x" * 3_000_000}, headers={"Accept-Language": "fr"})
    assert (refused.status_code, refused.headers["content-type"]) == (413, "text/plain; charset=utf-8")
    assert refused.text == "La requête est trop volumineuse."
    assert (refused.headers["connection"], refused.headers["cache-control"]) == ("close", "private, no-store")


@pytest.mark.django_db(transaction=True)
def test_api_body_beyond_the_limit_gets_a_json_error(reader: Reader):
    refused = reader.api("POST", "sessions/", {"prompt": "x" * 3_000_000})
    assert refused.status_code == 413
    assert refused.json() == {"code": "too_large", "detail": "The request is too large."}
