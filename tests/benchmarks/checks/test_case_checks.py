"""Checks of a case beside those of its version."""

from benchmarks.checks.check_set import MAX_KEY, case_checks


def test_own_checks_of_a_case_get_keys_of_their_own():
    shared = [{"key": "capital", "scorer": "contains"}, {"key": "equals", "scorer": "equals"}]
    own = [{"key": "capital", "scorer": "regex"}, {"scorer": "equals"}, {"scorer": "equals"}, {"key": "a" * 90}]
    keys = [check["key"] for check in case_checks(shared, own)]
    assert keys == ["capital", "equals", "capital (2)", "equals (2)", "equals (3)", "a" * MAX_KEY]
