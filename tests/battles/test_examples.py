"""The examples people copy do what they say."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import ApiToken, Scope
from battles import actions
from battles.models import Vote
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.processes


@pytest.mark.django_db(transaction=True)
def test_the_battle_script_plays_votes_and_prints_the_names(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url, name="Ada")
    make.model("honest", at=fake_provider.base_url, name="Grace")
    _, token = ApiToken.issue(user=make.user(), name="play", scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])
    script = settings.BASE_DIR / "examples" / "play_battles.py"
    played = subprocess.run([sys.executable, script, site, token, "--battles", "3"], capture_output=True, text=True)
    assert played.stderr == ""
    assert "Ada" in played.stdout
    assert "Grace" in played.stdout
    assert Vote.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_the_battle_script_says_what_it_was_refused_for(site: str):
    script = settings.BASE_DIR / "examples" / "play_battles.py"
    refused = subprocess.run([sys.executable, script, site, "arena_no"], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, "not_authenticated: Sign in, or send a valid token.\n")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("wanted", "beginning"), [("markdown", "# "), ("json", "{")])
def test_the_script_that_takes_sessions_along_writes_all_of_them(
    site: str, tmp_path: Path, wanted: str, beginning: str
):
    member = make.member()
    battles = [make.answered_battle(make.model(), make.model(), actor=member) for _ in range(3)]
    actions.update_session(battles[0].session, archived=True)
    _, token = ApiToken.issue(user=member.user, name="read", scopes=[Scope.READ])
    script = settings.BASE_DIR / "examples" / "take_sessions_along.py"
    asked = [sys.executable, script, site, token, tmp_path / "mine", "--as", wanted]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert done.stderr == ""
    files = list((tmp_path / "mine").iterdir())
    assert len(files) == len(done.stdout.splitlines()) == 3
    assert all(file.read_text().startswith(beginning) for file in files)
