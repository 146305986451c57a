"""Groups are found by path and read in the shapes of issuers."""

from typing import Any

import pytest

from accounts.single_sign_on.claims import find, names_in

STAFF = {"staff"}


@pytest.mark.parametrize(
    ("document", "path", "found"),
    [
        ({"groups": ["staff"]}, "groups", ["staff"]),
        ({"realm_access": {"roles": ["staff"]}}, "realm_access.roles", ["staff"]),
        ({"resource_access": {"arena": {"roles": ["staff"]}}}, "resource_access.arena.roles", ["staff"]),
        (
            {"resource_access": {"arena.example.org": {"roles": ["staff"]}}},
            "resource_access.arena.example.org.roles",
            ["staff"],
        ),
        ({"https://example.com/roles": ["staff"]}, "https://example.com/roles", ["staff"]),
        ({"https://example.com/app": {"roles": "staff"}}, "https://example.com/app.roles", "staff"),
        ({"a.b": "whole", "a": {"b": "parts"}}, "a.b", "whole"),
        ({"a": {"b": "parts"}, "a.b": None}, "a.b", "parts"),
        ({"a.b": {"c": 1}, "a": {"b.c": 2}}, "a.b.c", 1),
        ({"a.b": {}, "a": {"b.c": 2}}, "a.b.c", 2),
        ({"realm_access": {"roles": []}}, "realm_access.roles", []),
        ({"realm_access": ["staff"]}, "realm_access.roles", None),
        ({"teams": [{"role": "staff"}, {"role": None}, {"role": ["a"]}]}, "teams.role", ["staff", ["a"]]),
        ({"teams": [{"name": "staff"}]}, "teams.role", None),
        ({"realm_access": None}, "realm_access.roles", None),
        ({"groups": None}, "groups", None),
        ({}, "realm_access.roles", None),
        ({}, "..", None),
    ],
)
def test_claim_is_found_by_name_or_path(document: dict[str, Any], path: str, found: Any):
    assert find(document, path) == found


def test_many_dots_are_searched_in_time():
    document: dict[str, Any] = {}
    for _ in range(20):
        document = {"a": document, "a.a": {}}
    assert find(document, ".".join("a" * 40)) is None


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("staff", STAFF),
        (["staff"], STAFF),
        (["staff", "other team, with a comma"], {"staff", "other team, with a comma"}),
        ("other,staff", {"other,staff", "other", "staff"}),
        ("other; staff", {"other; staff", "other", "staff"}),
        ("other|staff", {"other|staff", "other", "staff"}),
        ("Arena Staff, other", {"Arena Staff, other", "Arena Staff", "other"}),
        ("other staff", {"other staff", "other", "staff"}),
        ('["other", "staff"]', {"other", "staff"}),
        ("[other, staff]", {"other, staff", "other", "staff"}),
        ('{"staff": {}}', STAFF),
        ({"staff": {"178204173316174381": "example.zitadel.cloud"}}, STAFF),
        ({"staff": True, "moderator": False, "other": None, "fourth": "false"}, STAFF),
        ({"staff": {}}, STAFF),
        ({"id": {"178204173316174381": "example.zitadel.cloud"}}, {"id"}),
        ([{"name": "staff"}], STAFF),
        ({"name": "staff"}, STAFF),
        ([{"id": "7", "displayName": "staff", "description": "moderator"}], {"7", "staff"}),
        ([{"group_id": "7", "group_name": "staff"}], {"7", "staff"}),
        ([{"value": "staff", "primary": True}], STAFF),
        ([{"authority": "staff"}], STAFF),
        ([{"staff": {}}], STAFF),
        ([["staff"], [["other"]]], {"staff", "other"}),
        ([True, 7, None, 1.5, "staff", ""], STAFF),
        ([[[[["staff"]]]]], set()),
        (True, set()),
        (7, set()),
        (1.5, set()),
        (None, set()),
        ("", set()),
        ([], set()),
        ({}, set()),
        ("[" * 30_000, set()),
    ],
)
def test_names_are_read_in_every_shape(value: Any, names: set[str]):
    assert names_in(value) == names
