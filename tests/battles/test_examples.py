"""The examples people copy do what they say."""

import subprocess
import sys

import pytest
from django.conf import settings

from accounts.models import ApiToken, Scope
from battles.models import Vote
from tests import make
from tests.fake_provider import FakeProvider


@pytest.mark.django_db(transaction=True)
def test_the_battle_script_plays_votes_and_prints_the_names(fake_provider: FakeProvider, site: str):
    make.model("honest", at=fake_provider.base_url, name="Ada")
    make.model("honest", at=fake_provider.base_url, name="Grace")
    _, token = ApiToken.issue(user=make.user(), name="play", scopes=[Scope.READ, Scope.BATTLE, Scope.VOTE])
    script = settings.BASE_DIR / "examples" / "play_battles.py"
    played = subprocess.run(
        [sys.executable, script, site, token, "--battles", "3"], capture_output=True, text=True, timeout=60
    )
    assert played.stderr == ""
    assert "Ada" in played.stdout
    assert "Grace" in played.stdout
    assert Vote.objects.count() == 3
