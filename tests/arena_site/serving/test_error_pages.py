"""Refusals of Django's own as pages with navigation."""

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from django.views import defaults

from tests import make

pytestmark = pytest.mark.django_db
LEADERBOARD = '<a href="/leaderboard/"'


def test_missing_page_keeps_the_navigation():
    visitor = make.visitor()
    make.battle(make.model(), make.model(), actor=visitor, prompt="An earlier prompt")
    missing = make.browser(visitor).get("/nowhere/")
    assert missing.status_code == 404
    assert "This page does not exist, or you do not have access.</h1>" in missing.text
    assert LEADERBOARD in missing.text
    assert "An earlier prompt" in missing.text
    assert Client().get("/api/v1/nowhere/").json()["code"] == "not_found"


def test_forbidden_page_keeps_the_navigation():
    page = defaults.permission_denied(RequestFactory().get("/admin/"), PermissionDenied())
    assert page.status_code == 403
    assert "You may not do this.</h1>" in page.content.decode()
    assert LEADERBOARD in page.content.decode()


def test_missing_fragment_is_a_notice():
    missing = Client().get("/nowhere/", headers={"HX-Request": "true"})
    assert (missing.status_code, missing["HX-Retarget"]) == (404, "#notices")
    assert "<html" not in missing.text


def test_missing_page_during_an_outage_says_so():
    def away(*_: Any) -> None:
        raise OperationalError("the database is away")

    browser = make.browser(make.visitor())
    with connection.execute_wrapper(away):
        assert browser.get("/nowhere/").status_code == 503
