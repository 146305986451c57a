"""More than can be sent at once is refused in words, on a page and inside one."""

import pytest
from django.test import Client

from tests.site import Reader

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("headers", "retarget"), [({}, None), ({"HX-Request": "true"}, "#notices")])
def test_a_prompt_that_is_far_too_long_is_no_bad_request(client: Client, headers: dict[str, str], retarget: str | None):
    much, form = "prompt=" + "x" * 1_200_000, "application/x-www-form-urlencoded"
    refused = client.post("/", much, form, headers=headers)
    assert refused.status_code == 413
    assert "This is more than can be sent at once." in refused.text
    assert refused.headers.get("HX-Retarget") == retarget


@pytest.mark.django_db(transaction=True)
def test_whoever_sends_far_more_than_is_even_read_sees_a_page_in_their_language(reader: Reader):
    refused = reader.post("/", data={"prompt": "x" * 3_000_000}, headers={"Accept-Language": "fr"})
    assert (refused.status_code, refused.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert '<html lang="fr"' in refused.text
    assert "C’est plus que ce qui peut être envoyé" in refused.text
    notice = reader.post("/", data={"prompt": "x" * 3_000_000}, headers={"HX-Request": "true"})
    assert (notice.status_code, notice.text) == (413, "This is more than can be sent at once.")
