import pytest
from django.core.checks import ERROR, WARNING

from arena_site.removed_settings import IGNORED, REFUSED, check_removed_settings
from tests.doc_checks import known_variables


def test_environment_without_removed_settings_passes():
    assert check_removed_settings() == []


def test_ignored_settings_are_one_warning(monkeypatch: pytest.MonkeyPatch):
    for name in ("ARENA_LIMIT_VOTE_MEMBER", "ARENA_CONNECTIONS", "ARENA_STREAMS_PERSON"):
        monkeypatch.setenv(name, "9")
    monkeypatch.setenv("ARENA_STREAMS_NETWORK", "9")
    monkeypatch.setenv("ARENA_CONSENT_VERSION", "")
    (warning,) = check_removed_settings()
    assert (warning.level, warning.msg) == (
        WARNING,
        "Settings that are no longer read: ARENA_CONNECTIONS (the value is fixed now); "
        "ARENA_LIMIT_VOTE_MEMBER (use Limits in the administration); ARENA_STREAMS_PERSON (the value is fixed now).",
    )


def test_harmful_settings_are_one_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARENA_S3_REGION", "eu-central-1")
    monkeypatch.setenv("ARENA_KEEP_RUNS_DAYS", "30")
    monkeypatch.setenv("ARENA_KEEP_DECISIONS_DAYS", "7")
    (error,) = check_removed_settings()
    assert (error.level, error.msg) == (
        ERROR,
        "Settings to be replaced: "
        "ARENA_KEEP_DECISIONS_DAYS (decisions are deleted after 90 days, or after ARENA_KEEP_DAYS if that is less); "
        "ARENA_KEEP_RUNS_DAYS (use ARENA_KEEP_DAYS, which is for sessions and benchmark runs); "
        "ARENA_S3_REGION (use AWS_DEFAULT_REGION).",
    )


def test_no_setting_is_both_ignored_and_refused():
    assert not IGNORED.keys() & REFUSED.keys()


def test_settings_of_env_example_are_read(monkeypatch: pytest.MonkeyPatch):
    for name in known_variables():
        monkeypatch.setenv(name, "5")
    assert check_removed_settings() == []
