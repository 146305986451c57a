"""`make screenshots` photographs every page or states a reason."""

import re

import pytest
from django.conf import settings

from tools.screenshots import pictures
from tools.screenshots.coverage import complaints


def test_every_page_has_picture_or_reason():
    assert complaints() == []


def test_pages_without_picture_or_reason_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(pictures.LEFT_OUT, "a part of a page that has its picture")
    monkeypatch.setitem(pictures.LEFT_OUT, "gone", ["/gone/"])
    assert set(complaints()) == {
        "/battles/{public_id}/ has neither a picture nor a reason to have none.",
        "/benchmarks/judges/trials/{test_id}/ has neither a picture nor a reason to have none.",
        "/models/choices/ has neither a picture nor a reason to have none.",
        "/s/{public_id}/row/ has neither a picture nor a reason to have none.",
        "/teams/{slug}/models/choices/ has neither a picture nor a reason to have none.",
        "/uploads/{public_id}/chip/ has neither a picture nor a reason to have none.",
        "/gone/ is left out, and there is no such address without a picture.",
    }


def test_tour_shows_each_picture_in_the_tree():
    folder = settings.BASE_DIR / "docs" / "screenshots"
    in_tree = {str(path.relative_to(folder).with_suffix("")) for path in folder.glob("*/*.png")}
    assert in_tree == set(pictures.TOUR)
    assert in_tree == set(re.findall(r"\(([a-z0-9/-]+)\.png\)", (folder / "README.md").read_text()))
