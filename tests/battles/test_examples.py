import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import Scope
from battles import actions
from battles.models import Vote
from tests import make
from tests.fake_provider import FakeProvider

pytestmark = pytest.mark.processes


@pytest.mark.django_db(transaction=True)
def test_battle_script_votes_and_prints_names(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url, name="Ada")
    make.model("honest", at=fake_provider.base_url, name="Grace")
    token = make.token(scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])
    script = settings.BASE_DIR / "examples" / "play_battles.py"
    done = subprocess.run([sys.executable, script, site, token, "--battles", "3"], capture_output=True, text=True)
    assert done.stderr == ""
    assert "Ada" in done.stdout
    assert "Grace" in done.stdout
    assert Vote.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_battle_script_prints_refusals(site: str):
    script = settings.BASE_DIR / "examples" / "play_battles.py"
    done = subprocess.run([sys.executable, script, site, "arena_no"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "not_authenticated: Sign in, or send a valid token.\n")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("format_name", "beginning"), [("markdown", "# "), ("json", "{")])
def test_export_script_writes_every_session(site: str, tmp_path: Path, format_name: str, beginning: str):
    member = make.member()
    battles = [make.answered_battle(make.model(), make.model(), actor=member) for _ in range(3)]
    actions.update_session(battles[0].session, archived=True)
    token = make.token(member.user, scopes=[Scope.READ])
    script = settings.BASE_DIR / "examples" / "export_sessions.py"
    command = [sys.executable, script, site, token, tmp_path / "sessions", "--as", format_name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    files = list((tmp_path / "sessions").iterdir())
    assert len(files) == len(done.stdout.splitlines()) == 3
    assert all(file.read_text().startswith(beginning) for file in files)
